"""What each assigner gives, worked out by hand."""

import pytest

from drl.credit.base import Credit, CreditedTurn
from drl.credit.goal_events import GoalEventsCredit
from drl.credit.terminal import TerminalCredit
from drl.credit.tree import TreeCredit
from drl.credit.uniform import UniformCredit
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Failure, RewardEvent, Role, Step, StopReason, Turn

MAX_TURNS = StopReason.MAX_TURNS
BY_EVENTS = TreeCredit(pays="events")
BY_SCORE = TreeCredit(pays="score")


class Sketch(DialogueTree):
    """A tree of turns that say only what they earned and how they ended."""

    def __init__(self) -> None:
        super().__init__("task", 0, 1)

    def ask(self, parent: int | None, **marks) -> int:
        return self._grown(parent, Turn(Role.USER, "well"), marks)

    def act(self, parent: int | None, *, text: str | None = "so", **marks) -> int:
        return self._grown(parent, Turn(Role.AGENT, text, (Step("so", reply=text),)), marks)

    def overflow(self, parent: int) -> int:
        """The context was full before the agent could act."""
        turn = Turn(Role.AGENT, "", failure=Failure("context_overflow", "too long"))
        return self._grown(parent, turn, {"stop": StopReason.CONTEXT_OVERFLOW, "score": 0.5})

    def _grown(self, parent: int | None, turn: Turn, marks) -> int:
        node = self.add(parent, turn, (0,))
        paid = marks.pop("paid", None)
        node.events = () if paid is None else (RewardEvent(paid, "test"),)
        for name, value in marks.items():
            setattr(node, name, value)
        return node.id


def rewards(credit: Credit, tree: DialogueTree) -> list[list[float]]:
    return [[turn.reward for turn in dialogue.turns] for dialogue in credit.assign(tree)]


def turns(credit: Credit, tree: DialogueTree) -> dict[tuple[int, ...], CreditedTurn]:
    """The turns that count, by their nodes."""
    found = [turn for dialogue in credit.assign(tree) for turn in dialogue.turns if turn.weight]
    return {turn.nodes: turn for turn in found}


def advantages(credit: Credit, tree: DialogueTree) -> dict[int, float]:
    return {nodes[0]: turn.advantage for nodes, turn in turns(credit, tree).items()}


def chain(*paid: float | None, score: float | None, stop: StopReason = MAX_TURNS) -> Sketch:
    """One dialogue whose turns earn this."""
    tree = Sketch()
    here = None
    for amount in paid:
        here = tree.act(tree.ask(here), paid=amount)
    assert here is not None
    tree.nodes[here].stop, tree.nodes[here].score = stop, score
    return tree


@pytest.mark.parametrize(
    ("credit", "paid"),
    [
        (TerminalCredit(), [0.0, 0.0, 0.6]),
        (UniformCredit(), [0.2, 0.2, 0.2]),
        (GoalEventsCredit(), [0.25, 0.0, 0.5]),
        (BY_EVENTS, [0.25, 0.0, 0.5]),
        (BY_SCORE, [0.0, 0.0, 0.6]),
    ],
)
def test_the_score_or_the_events_are_paid_where_the_assigner_says(credit, paid):
    tree = chain(0.25, None, 0.5, score=0.6)
    assert rewards(credit, tree) == [pytest.approx(paid)]
    (dialogue,) = credit.assign(tree)
    assert dialogue.total == 0.6
    # events pay 0.75 in all: 0.15 more than the score
    assert dialogue.shaping == pytest.approx(0.15 if credit.shapes else 0.0)


@pytest.mark.parametrize("credit", [TerminalCredit(), UniformCredit(), BY_SCORE])
def test_an_unscored_dialogue_is_worth_its_events_and_unknown_without_one(credit):
    assert [sum(row) for row in rewards(credit, chain(0.25, 0.5, score=None))] == [0.75]
    assert rewards(credit, chain(None, None, score=None)) == []
    assert len(rewards(credit, chain(0.0, None, score=None))) == 1
    assert len(rewards(credit, chain(None, None, score=0.0))) == 1


@pytest.mark.parametrize("credit", [GoalEventsCredit(), BY_EVENTS])
def test_no_event_is_no_reward_also_of_an_unscored_dialogue(credit):
    assert rewards(credit, chain(None, None, score=None)) == [[0.0, 0.0]]


@pytest.mark.parametrize("stop", [StopReason.BUDGET, StopReason.CONTEXT_OVERFLOW])
def test_dialogues_without_budget_or_context_stay(stop):
    assert rewards(TerminalCredit(), chain(None, score=0.5, stop=stop)) == [[0.5]]


def test_what_the_customer_answers_was_earned_by_the_turn_before():
    tree = Sketch()
    first = tree.act(tree.ask(None, paid=1.0))
    second = tree.act(tree.ask(first, paid=2.0), paid=4.0)
    tree.ask(second, paid=8.0, stop=StopReason.USER_ENDED, score=15.0)
    # what came before the first turn is its own too: 1 + 2, then 4 + 8
    assert rewards(GoalEventsCredit(), tree) == [[3.0, 12.0]]


@pytest.mark.parametrize("credit", [TerminalCredit(), BY_SCORE])
def test_a_turn_in_which_the_agent_came_to_nothing_is_none(credit):
    tree = Sketch()
    tree.overflow(tree.ask(tree.act(tree.ask(None))))
    assert rewards(credit, tree) == [[0.5]]


def test_a_turn_is_compared_with_its_siblings_and_counts_with_its_share():
    tree = Sketch()
    opening = tree.ask(None)
    left, right = tree.act(opening, paid=0.5), tree.act(opening)
    answer = tree.ask(left)
    ends = [tree.act(answer, paid=paid, stop=MAX_TURNS) for paid in (1.0, 0.0, 0.5)]
    alone = tree.act(tree.ask(right), paid=0.25, stop=MAX_TURNS)
    # Q: ends 1, 0, 0.5; left 0.5 + their mean 0.5 = 1; right 0 + 0.25
    assert advantages(BY_EVENTS, tree) == pytest.approx(
        {
            left: 1 - 0.25,
            ends[0]: 1 - 0.25,
            ends[1]: 0 - 0.75,
            ends[2]: 0.5 - 0.5,
            right: 0.25 - 1,
            alone: 0.25 - 1,  # no siblings: by those of the last turn that has some
        }
    )
    weights = {nodes[0]: turn.weight for nodes, turn in turns(BY_EVENTS, tree).items()}
    assert weights == pytest.approx(
        {left: 1 / 2, right: 1 / 2, alone: 1 / 2} | dict.fromkeys(ends, 1 / 6)
    )


def test_a_turn_without_siblings_is_measured_from_the_last_fork_on():
    tree = Sketch()
    opening = tree.ask(None)
    left, right = tree.act(opening, paid=0.5), tree.act(opening, paid=0.5, stop=MAX_TURNS)
    then = tree.act(tree.ask(left), paid=0.25, stop=MAX_TURNS)
    # the left branch earned 0.75 from the fork on, the right one 0.5
    assert advantages(BY_EVENTS, tree) == pytest.approx({left: 0.25, right: -0.25, then: 0.25})


def test_a_dialogue_with_nothing_beside_it_has_what_followed_for_its_advantage():
    tree = chain(0.25, None, 0.5, score=0.75)
    assert advantages(BY_EVENTS, tree) == pytest.approx({1: 0.75, 3: 0.5, 5: 0.5})


def test_independent_dialogues_are_compared_as_wholes_and_count_fully():
    tree = Sketch()
    for paid in (1.0, 0.0, 0.5):
        tree.act(tree.ask(None), paid=paid, stop=MAX_TURNS)
    # 1 - mean(0, 0.5); 0 - mean(1, 0.5); 0.5 - mean(1, 0)
    assert advantages(BY_EVENTS, tree) == pytest.approx({1: 0.75, 3: -0.75, 5: 0.0})
    assert {turn.weight for turn in turns(BY_EVENTS, tree).values()} == {1.0}


def test_a_branch_that_broke_is_as_if_it_had_not_been_tried():
    tree = Sketch()
    opening = tree.ask(None)
    good, bad, gone = tree.act(opening), tree.act(opening), tree.act(opening)
    for turn, paid in ((good, 1.0), (bad, 0.0)):
        tree.ask(turn, paid=paid, stop=StopReason.USER_ENDED)
        tree.ask(turn, paid=9.0, stop=StopReason.ERROR)
    tree.ask(gone, stop=StopReason.ERROR)
    assert advantages(BY_EVENTS, tree) == pytest.approx({good: 1.0, bad: -1.0})
    assert {turn.weight for turn in turns(BY_EVENTS, tree).values()} == {0.5}


def test_a_turn_that_branched_inside_is_compared_where_it_began():
    tree = Sketch()
    opening = tree.ask(None)
    left, right = (tree.act(opening, text=None) for _ in range(2))
    ends = {
        (half, tree.act(half, paid=paid, stop=MAX_TURNS)): paid
        for half, amounts in ((left, (1.0, 0.5)), (right, (0.25, 0.0)))
        for paid in amounts
    }
    found = turns(BY_EVENTS, tree)
    assert set(found) == set(ends)
    # a turn's two parts have one advantage, so its baseline must not share its first part:
    # 0.125 is the mean on the right, 0.75 on the left
    for nodes, paid in ends.items():
        expected = 0.125 if nodes[0] == left else 0.75
        assert found[nodes].advantage == pytest.approx(paid - expected)
        assert found[nodes].weight == pytest.approx(1 / 4)
