"""The ways in which the agenda customer says things, in two parts that share no sentence.

A policy that learns on the training part meets the held-out part as new wording for the same
acts. In templates `{needs}` is a verb phrase ("be in the north and have free parking"), `{is}`
the same about a third person, `{value}` a value and `{details}` those of a booking.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from drl.user_simulator._acts import Does

Ways = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bank:
    """One part: openings by domain, sentences by act, and fragments by slot."""

    opening: Mapping[str, Ways]
    naming: Mapping[str, Ways]
    going_on: Ways
    sentences: Mapping[Does, Ways]
    naming_again: Ways
    naming_another: Ways
    naming_once_more: Ways
    traits: Mapping[str, Ways]
    yes_no: Mapping[tuple[str, str], Ways]
    nouns: Mapping[str, Ways]
    details: Mapping[str, Ways]


_TYPE_TRAITS: Final = {
    ("type", "guesthouse"): ("be a guesthouse",),
    ("type", "hotel"): ("be a hotel rather than a guesthouse", "be an actual hotel"),
    ("type", "architecture"): ("be known for its architecture",),
    ("type", "boat"): ("have something to do with boats",),
    ("type", "cinema"): ("be a cinema",),
    ("type", "college"): ("be a college",),
    ("type", "concerthall"): ("be a concert hall",),
    ("type", "entertainment"): ("offer entertainment",),
    ("type", "museum"): ("be a museum",),
    ("type", "mutliple sports"): ("offer multiple sports",),
    ("type", "nightclub"): ("be a nightclub",),
    ("type", "park"): ("be a park",),
    ("type", "swimmingpool"): ("be a swimming pool",),
    ("type", "theatre"): ("be a theatre",),
}

TRAIN: Final = Bank(
    opening={
        "hotel": ("I am looking for a place to stay.", "I need somewhere to stay."),
        "restaurant": ("I am looking for a place to eat.", "I would like to find a restaurant."),
        "attraction": ("I am looking for places to go in town.", "I want to visit an attraction."),
        "train": ("I need a train.", "I am looking for a train."),
    },
    naming={
        "hotel": ("I am looking for a hotel called {value}.",),
        "restaurant": ("I am looking for a restaurant called {value}.",),
        "attraction": ("I am looking for an attraction called {value}.",),
    },
    going_on=("Also,", "Next,", "And then,"),
    sentences={
        Does.INFORM: (
            "It should {needs}.",
            "I would like it to {needs}.",
            "It needs to {needs}, please.",
        ),
        Does.CORRECT: (
            "That is not quite right: it has to {needs}.",
            "No, it should {needs}.",
            "Sorry, I do need it to {needs}.",
        ),
        Does.CHANGE: (
            "How about one that {is}?",
            "In that case, is there one that {is}?",
            "What about one that {is} instead?",
        ),
        Does.RECONSIDER: (
            "Thinking about it again, I would rather have one that {is}.",
            "Hmm, actually I would prefer one that {is}.",
            "On second thoughts, do you have one that {is}?",
        ),
        Does.RESTATE: (
            "Let me say it again: it should {needs}. Do you have anything?",
            "Could you look once more? It should {needs}.",
        ),
        Does.ANY: (
            "I do not mind about {nouns}.",
            "I have no preference for {nouns}.",
            "As for {nouns}, it does not matter to me.",
        ),
        Does.REQUEST: (
            "Could you tell me {nouns}?",
            "Please tell me {nouns}.",
            "Can I get {nouns}?",
        ),
        Does.INSIST: (
            "I still need {nouns}.",
            "You have not told me {nouns} yet.",
        ),
        Does.BOOK: (
            "That sounds good. Please book it{details}.",
            "Great, could you book it{details}?",
            "I will take it. Please make a booking{details}.",
        ),
        Does.DETAIL: ("It is{details}.", "Please make it{details}."),
        Does.REBOOK: (
            "Then please try{details} instead.",
            "How about{details} instead?",
            "Could you book it{details} then?",
        ),
        Does.RETRY: (
            "Please try the booking again{details}.",
            "I would really like to book it{details}.",
        ),
        Does.REFERENCE: (
            "What is the reference number?",
            "Could I have the reference number, please?",
        ),
        Does.NO_BOOKING: ("There is no need to book it, thanks.", "No booking needed, thank you."),
        Does.NEVER_MIND: ("Never mind, let us leave that.", "All right, forget about that one."),
        Does.THANK: ("Great, thank you.", "Perfect, thanks.", "Thank you."),
        Does.BYE: (
            "That is all I need, goodbye.",
            "That is everything, thanks for your help.",
        ),
    },
    naming_again=("It is called {value}.", "I mean {value}.", "The name is {value}."),
    naming_another=("How about {value} instead?", "In that case, is there {value}?"),
    naming_once_more=("Are you sure? I mean {value}.", "Could you look for {value} once more?"),
    traits={
        "area": ("be in the {value}",),
        "pricerange": ("be in the {value} price range", "have {value} prices"),
        "food": ("serve {value} food",),
        "stars": ("have {value} stars", "have a star rating of {value}"),
        "departure": ("leave from {value}", "depart from {value}"),
        "destination": ("go to {value}",),
        "day": ("be on {value}",),
        "leaveAt": ("leave after {value}",),
        "arriveBy": ("arrive by {value}",),
    },
    yes_no={
        ("internet", "yes"): ("have free wifi", "include free wifi"),
        ("internet", "no"): ("come without internet",),
        ("parking", "yes"): ("have free parking", "include free parking"),
        ("parking", "no"): ("come without parking",),
        **_TYPE_TRAITS,
    },
    nouns={
        "area": ("the area",),
        "pricerange": ("the price range",),
        "food": ("the type of food",),
        "type": ("the type",),
        "stars": ("the star rating",),
        "internet": ("the internet",),
        "parking": ("the parking",),
        "leaveAt": ("the departure time",),
        "arriveBy": ("the arrival time",),
        "phone": ("the phone number",),
        "address": ("the address",),
        "postcode": ("the postcode",),
        "entrance fee": ("the entrance fee",),
        "price": ("the price",),
        "duration": ("the travel time",),
        "trainID": ("the train ID",),
    },
    details={
        "people": (" for {value} people",),
        "stay": (" for {value} nights",),
        "day": (" on {value}",),
        "arrival": (" from {value}", " starting from {value}"),
        "time": (" at {value}",),
    },
)

HELDOUT: Final = Bank(
    opening={
        "hotel": (
            "Can you help me find accommodation?",
            "We are after some lodging for our visit.",
        ),
        "restaurant": (
            "Where could I go for dinner?",
            "We would like to eat out, can you suggest somewhere to dine?",
        ),
        "attraction": (
            "I would love to do some sightseeing.",
            "Can you suggest something to do while I am around?",
        ),
        "train": ("I have to travel by rail.", "Can you help me with train tickets?"),
    },
    naming={
        "hotel": ("A friend told me to stay at a hotel named {value}.",),
        "restaurant": ("Do you know a restaurant by the name of {value}?",),
        "attraction": ("Someone told me about {value}, an attraction in town.",),
    },
    going_on=("One more thing:", "There is something else:", "Besides that:"),
    sentences={
        Does.INFORM: (
            "Ideally it would {needs}.",
            "Preferably it would {needs}.",
            "I was hoping it could {needs}.",
        ),
        Does.CORRECT: (
            "Hold on, I said it must {needs}.",
            "I am afraid that will not do, it must {needs}.",
        ),
        Does.CHANGE: (
            "Is there perhaps one that {is}?",
            "Oh well. Could you check for one that {is}?",
        ),
        Does.RECONSIDER: (
            "Wait, I have changed my mind: find me one that {is}.",
            "You know what, let us go for one that {is}.",
        ),
        Does.RESTATE: (
            "Please check again, what I want must {needs}.",
            "To sum up, it ought to {needs}. Can you find that?",
        ),
        Does.ANY: ("Whatever you think is best for {nouns}.", "I am flexible about {nouns}."),
        Does.REQUEST: (
            "Please give me {nouns}.",
            "I would also like to know {nouns}.",
            "May I have {nouns}?",
        ),
        Does.INSIST: ("And what about {nouns}?", "I was asking for {nouns}."),
        Does.BOOK: (
            "Lovely, go ahead and reserve it{details}.",
            "Wonderful. I want to make a reservation{details}.",
        ),
        Does.DETAIL: ("Make that{details}.", "That would be{details}."),
        Does.REBOOK: ("Would it work{details}?", "See whether it is possible{details}."),
        Does.RETRY: ("Have another go at the reservation{details}.", "Do reserve it{details}."),
        Does.REFERENCE: (
            "Please give me the booking reference.",
            "I will need a confirmation number.",
        ),
        Does.NO_BOOKING: ("I do not want a reservation just now.", "Without a booking, thanks."),
        Does.NEVER_MIND: ("Let us drop that.", "Too bad, skip that one."),
        Does.THANK: ("Brilliant, cheers.", "Excellent."),
        Does.BYE: ("Nothing else for today, bye.", "You have been a great help, bye."),
    },
    naming_again=("I am talking about {value}.", "The one named {value}."),
    naming_another=("Could we try {value}?", "Let us see about {value} then."),
    naming_once_more=("Please check {value} again.", "That is odd. It is definitely {value}."),
    traits={
        "area": ("be located in the {value}", "be in the {value} of the city"),
        "pricerange": ("be {value}ly priced", "be of a {value} price level"),
        "food": ("do {value} cuisine", "offer {value} dishes"),
        "stars": ("be rated {value} stars",),
        "departure": ("set off from {value}", "start from {value}"),
        "destination": ("take me to {value}", "end up in {value}"),
        "day": ("run on {value}",),
        "leaveAt": ("depart after {value}", "set off later than {value}"),
        "arriveBy": ("get there by {value}", "be there before {value}"),
    },
    yes_no={
        ("internet", "yes"): ("come with wifi", "provide internet"),
        ("internet", "no"): ("be without wifi",),
        ("parking", "yes"): ("provide parking", "come with a parking space"),
        ("parking", "no"): ("be without parking",),
        **_TYPE_TRAITS,
        ("type", "guesthouse"): ("be a bed and breakfast", "be one of those guest houses"),
        ("type", "hotel"): ("be a proper hotel",),
        ("type", "boat"): ("involve boating",),
        ("type", "swimmingpool"): ("let me go swimming",),
    },
    nouns={
        "area": ("the part of town", "the location"),
        "pricerange": ("the price", "the price bracket"),
        "food": ("the cuisine",),
        "type": ("the kind of place",),
        "stars": ("the rating",),
        "internet": ("the wifi",),
        "parking": ("the car park",),
        "leaveAt": ("the time of departure",),
        "arriveBy": ("the time of arrival",),
        "phone": ("the telephone number", "a contact number"),
        "address": ("the full address",),
        "postcode": ("the postal code",),
        "entrance fee": ("the cost to get in", "the admission fee"),
        "price": ("the ticket price", "the fare"),
        "duration": ("the journey time",),
        "trainID": ("the train number",),
    },
    details={
        "people": (" for {value} persons", " for {value} guests"),
        "stay": (" for {value} nights",),
        "day": (" for {value}",),
        "arrival": (" starting {value}", " arriving on {value}"),
        "time": (" at {value}",),
    },
)
