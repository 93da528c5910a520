import pytest

from drl.domains.own.world import OwnWorld
from drl.domains.tau.world import Scene as TauScene
from drl.domains.toolwoz.world import Scene
from drl.evaluation.conduct import Conduct, conduct
from drl.types import Brief, Goal, Role, Step, Task, ToolCall, ToolResult, Turn, Wish

SCENE = Scene(None, None, None)  # tells only that a task is of ToolWOZ
ACORN = {"name": "acorn guest house", "area": "north", "phone": "01223353888", "parking": "yes"}


def user(text: str) -> Turn:
    return Turn(Role.USER, text)


def agent(text: str, *calls: tuple[str, dict, object]) -> Turn:
    steps = [
        Step("", calls=(ToolCall(name, args),), results=(ToolResult(value),))
        for name, args, value in calls
    ]
    return Turn(Role.AGENT, text, (*steps, Step("", reply=text)))


def measure(*dialogue: Turn, requests: tuple[str, ...] = ()):
    wish = Wish("hotel", {"area": "north"}, {}, {}, {}, requests)
    task = Task("t", "test", Brief((), (wish,)), (Goal("search_hotel", "hotel", {}),) * 2, SCENE)
    return conduct(task, dialogue)


SEARCH = ("search_hotel", {"area": "north"}, [ACORN])


@pytest.mark.parametrize(
    ("reply", "share"),
    [
        ("Acorn Guest House, phone 01223 353888, and it has parking.", 1.0),
        ("Acorn Guest House; call 01223353888.", 0.5),
        ("Acorn Guest House; call 01223999999.", 0.0),
        ("Call 01223353888, there is parking.", 0.0),  # of which hotel?
    ],
)
def test_a_request_counts_only_when_the_true_value_of_a_named_entity_is_told(reply, share):
    measured = measure(user("a hotel"), agent(reply, SEARCH), requests=("phone", "parking"))
    assert measured.requests_told == share


def test_without_requests_or_calls_there_is_nothing_to_measure():
    measured = measure(user("hi"), agent("hello"))
    assert measured.requests_told is None
    assert measured.invented_values is None
    assert measured.calls_per_goal == 0
    assert measured.num_turns == 1


@pytest.mark.parametrize(
    "world",
    [OwnWorld("tasks.jsonl:1", None, {}), TauScene.__new__(TauScene)],
    ids=["own", "tau-bench"],
)
def test_other_tasks_are_not_measured_by_toolwoz_s_words(world):
    goal = Goal("book_room", "inn", {"nights": 2})
    task = Task("t", "test", Brief((), (Wish("inn", {}, {}, {}, {}, ("price",)),)), (goal,), world)
    booked = ("book_room", {"nights": 2}, {"success": True})
    assert conduct(task, (user("Two nights."), agent("Done.", booked))) == Conduct(
        requests_told=None,
        calls_per_goal=1,
        invented_values=None,
        bookings_without_consent=None,
        num_turns=1,
    )


def test_values_that_nobody_named_are_invented():
    call = ("search_hotel", {"area": "north", "stars": "4", "parking": "yes"}, [ACORN])
    measured = measure(user("a hotel in the north with free parking"), agent("ok", call))
    assert measured.invented_values == pytest.approx(1 / 3)
    assert measured.calls_per_goal == 0.5


def test_values_from_a_tool_may_be_used():
    book = ("book_hotel", {"name": "acorn guest house", "people": "2"}, {"success": True})
    measured = measure(user("the north, for 2 people"), agent("ok", SEARCH, book))
    assert measured.invented_values == 0


@pytest.mark.parametrize(
    ("offer", "answer", "count"),
    [
        ("How about Acorn Guest House?", "Yes, book it for 2.", 0),
        ("How about Acorn Guest House?", "What is the phone number?", 1),
        ("I found something.", "Book it for 2.", 1),
    ],
)
def test_a_booking_needs_a_known_entity_and_a_wish_to_book(offer, answer, count):
    book = ("book_hotel", {"name": "acorn guest house"}, {"success": True})
    measured = measure(user("a hotel"), agent(offer, SEARCH), user(answer), agent("ok", book))
    assert measured.bookings_without_consent == count
