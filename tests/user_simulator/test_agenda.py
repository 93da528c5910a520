"""What the agenda customer does, answered by hand."""

import asyncio
from dataclasses import replace

import pytest

from drl.errors import ConfigError
from drl.llm.base import NoLLM
from drl.types import Brief, Role, Turn, Wish
from drl.user_simulator.agenda import AgendaUserSimulator
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter

NOBODY = NoLLM("user_llm")
HOTEL = Wish(
    domain="hotel",
    constraints={"area": "north", "pricerange": "cheap", "type": "guesthouse", "internet": "yes"},
    first_constraints={},
    booking={"people": "2", "day": "monday", "stay": "3"},
    first_booking={},
    requests=("phone", "postcode"),
)
MUSEUM = Wish("attraction", {"type": "museum"}, {}, {}, {}, ())
FITS = "Worth House is a cheap guesthouse in the north with 4 stars and free wifi. Shall I book it?"
FACTS = "The phone number is 01223316074 and the postcode is CB41DA."
BOOKED = "I have booked Worth House. Your reference number is AB12CD34. Anything else?"


class Customer:
    """An agenda customer that is answered one reply after the other."""

    def __init__(self, *wishes: Wish, **settings: object) -> None:
        default = {"first_wish": "tentative", "phrasing": "train", "patience": 3}
        self.simulator = AgendaUserSimulator(**{**default, **settings})  # type: ignore[arg-type]
        self.brief = Brief((), wishes)
        self.history: tuple[Turn, ...] = ()
        self.turn = self._speak()

    def hear(self, *replies: str) -> Turn:
        for reply in replies:
            self.history += (Turn(Role.AGENT, reply),)
            self.turn = self._speak()
        return self.turn

    @property
    def does(self) -> str:
        """The customer's private note on its last turn."""
        return self.turn.steps[0].plan

    def _speak(self) -> Turn:
        encounter = Encounter(self.brief, self.history, seed=len(self.history))
        turn = asyncio.run(self.simulator.speak(encounter, NOBODY))
        self.history += (turn,)
        return turn


def told(customer: Customer) -> Customer:
    """The customer after it has said all that it wants."""
    customer.hear("What area, price range and type would you like? Do you need internet?")
    return customer


def test_opens_with_a_domain_and_a_part_of_its_wishes():
    customer = Customer(HOTEL)
    assert "open" in customer.does
    assert 1 <= customer.does.count("inform") <= 2


def test_answers_what_it_is_asked_and_has_no_preference_for_the_rest():
    customer = Customer(HOTEL)
    customer.hear("What price range, and how many stars should it have?")
    assert "inform pricerange=cheap" in customer.does
    assert "any stars" in customer.does
    assert "cheap" in (customer.turn.text or "")


def test_asked_for_nothing_it_goes_on_with_its_next_wishes():
    customer = Customer(HOTEL)
    said = customer.does.count("inform")
    customer.hear("I see.")
    assert customer.does.count("inform") == min(2, 4 - said)


def test_corrects_an_offer_that_is_not_what_it_wants():
    customer = told(Customer(HOTEL))
    customer.hear("Gonville Hotel is an expensive hotel in the north with free wifi.")
    assert customer.does == "hotel: correct pricerange=cheap, correct type=guesthouse"


@pytest.mark.parametrize(
    ("offer", "correction"),
    [
        ("TR1 leaves Ely at 09:05 and arrives in Cambridge at 09:22.", "leaveAt=09:15"),
        ("TR1 leaves Norwich at 09:35 for Cambridge.", "departure=ely"),
        ("TR1 leaves Ely at 09:35 on Tuesday.", "day=monday"),
    ],
)
def test_corrects_a_train_that_runs_elsewhere_or_at_another_time(offer, correction):
    wanted = {"departure": "ely", "destination": "cambridge", "day": "monday", "leaveAt": "09:15"}
    customer = Customer(Wish("train", wanted, {}, {}, {}, ()))
    customer.hear("Where from, where to, what day and when would you like to leave?", offer)
    assert customer.does == f"train: correct {correction}"


def test_a_question_about_an_option_is_no_offer():
    customer = told(Customer(HOTEL))
    customer.hear("Would you like the south or the centre?")
    assert "correct" not in customer.does


def test_does_not_correct_for_ever():
    customer = told(Customer(HOTEL))
    wrong = "How about Avalon? It is a cheap guesthouse in the south with free wifi."
    customer.hear(wrong, wrong)
    assert "correct area=north" in customer.does
    customer.hear(wrong)
    assert "correct" not in customer.does


def test_adds_the_wishes_it_has_not_said_yet_when_an_offer_fits_so_far():
    customer = Customer(HOTEL)
    customer.hear(FITS)
    assert "inform" in customer.does
    assert "book" not in customer.does


def test_asks_for_what_it_needs_to_know_and_insists():
    customer = told(Customer(HOTEL))
    customer.hear(FITS)
    assert customer.does == "hotel: request phone, request postcode"
    customer.hear("It is lovely there.")
    assert customer.does == "hotel: insist phone, insist postcode"
    customer.hear("The postcode is CB41DA.")
    assert "insist" not in customer.does


def test_takes_an_honest_i_do_not_know_for_an_answer():
    customer = told(Customer(HOTEL))
    customer.hear(FITS, "I am afraid the phone number and the postcode are not known.")
    assert "book" in customer.does


def test_books_with_all_details_and_insists_on_a_reference_number():
    customer = told(Customer(HOTEL))
    customer.hear(FITS, FACTS)
    assert customer.does == "hotel: book, detail people=2, detail day=monday, detail stay=3"
    customer.hear("Your booking was successful.")
    assert customer.does == "hotel: reference"
    assert customer.hear("The reference number is AB12CD34.").hangs_up


def test_puts_a_booking_right_that_was_made_for_another_day():
    customer = told(Customer(HOTEL))
    customer.hear(FITS, FACTS, "Booked from Tuesday, the reference number is AB12CD34.")
    assert customer.does == "hotel: correct day=monday"


def test_turns_to_the_alternative_when_there_is_nothing_of_the_first_kind():
    wish = replace(HOTEL, first_constraints={**HOTEL.constraints, "area": "west"})
    customer = told(Customer(wish))
    assert "area=west" in customer.does or "area=west" in customer.history[0].steps[0].plan
    customer.hear("I am sorry, I could not find any such guesthouse.")
    assert customer.does == "hotel: change area=north"


@pytest.mark.parametrize(
    ("first_wish", "does"),
    [("tentative", "reconsider area=north"), ("firm", "request phone")],
)
def test_offered_its_first_wish_it_reconsiders_or_takes_it(first_wish, does):
    wish = replace(HOTEL, first_constraints={**HOTEL.constraints, "area": "west"})
    customer = told(Customer(wish, first_wish=first_wish))
    customer.hear("Avalon is a cheap guesthouse in the west with free wifi.")
    assert does in customer.does


def test_a_refused_booking_is_tried_with_the_alternative_and_then_given_up():
    customer = told(Customer(replace(HOTEL, first_booking={**HOTEL.booking, "stay": "5"})))
    customer.hear(FITS, FACTS)
    assert "detail stay=5" in customer.does
    refused = "I am sorry, the booking was not successful."
    customer.hear(refused)
    assert customer.does == "hotel: rebook stay=3"
    customer.hear(refused)
    assert "retry" in customer.does
    assert customer.hear(refused).hangs_up


def test_goes_on_to_the_next_domain_and_hangs_up_when_all_is_done():
    customer = told(Customer(HOTEL, MUSEUM))
    customer.hear(FITS, FACTS, BOOKED)
    assert customer.does.startswith("attraction: thank, open")
    turn = customer.hear("Kettle's Yard is a museum in the west.")
    assert turn.hangs_up
    assert (turn.text or "").endswith(END_OF_CONVERSATION)


def test_what_it_does_not_care_about_is_no_constraint():
    wish = Wish("restaurant", {"food": "thai", "area": "dontcare"}, {}, {}, {}, ())
    customer = Customer(wish)
    customer.hear("Which area would you like?")
    assert "any area" in customer.does


def test_leaves_after_a_few_turns_without_progress():
    customer = Customer(MUSEUM, patience=2)
    assert not customer.hear("I see.").hangs_up  # says again what it wants
    assert not customer.hear("I see.").hangs_up
    assert customer.hear("I see.").hangs_up


def test_the_wording_comes_from_its_own_seed_and_the_acts_do_not():
    simulator = AgendaUserSimulator(first_wish="tentative", phrasing="train", patience=3)
    turns = [
        asyncio.run(simulator.speak(Encounter(Brief((), (HOTEL,)), (), seed), NOBODY))
        for seed in range(30)
    ]
    assert len({turn.text for turn in turns}) > 3
    assert len({turn.steps[0].plan for turn in turns}) == 1


def test_the_two_phrasings_share_no_opening_and_all_has_both():
    def openings(phrasing: str) -> set[str | None]:
        simulator = AgendaUserSimulator(first_wish="firm", phrasing=phrasing, patience=3)  # type: ignore[arg-type]
        brief = Brief((), (HOTEL,))
        return {
            asyncio.run(simulator.speak(Encounter(brief, (), seed), NOBODY)).text
            for seed in range(200)
        }

    train, heldout, both = openings("train"), openings("heldout"), openings("all")
    assert not train & heldout
    assert both & train
    assert both & heldout


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"first_wish": "maybe"}, r"user_simulator\.first_wish=maybe is unknown; use tentative"),
        ({"phrasing": "test"}, r"user_simulator\.phrasing=test is unknown; use one of train"),
        ({"patience": 0}, r"user_simulator\.patience=0 must be at least 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Customer(**settings)
