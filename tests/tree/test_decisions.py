from drl.tree.decisions import decisions
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, RewardEvent, Role, StopReason, Turn


def say(tree: DialogueTree, parent: int | None, role: Role, **marks) -> int:
    node = tree.add(parent, Turn(role, "x"), (0,))
    for name, value in marks.items():
        setattr(node, name, value)
    return node.id


def test_each_try_has_the_best_label_that_holds_for_a_branch_through_it():
    tree = DialogueTree("task", 0, 1)
    opening = say(tree, None, Role.USER)
    golden = say(tree, opening, Role.AGENT, golden=True, stop=StopReason.GOALS_REACHED)
    paid = say(tree, opening, Role.AGENT)
    cut = say(tree, opening, Role.AGENT)
    failed = say(tree, opening, Role.AGENT)
    broken = say(tree, opening, Role.AGENT, stop=StopReason.ERROR)
    collapsed = StopReason.COLLAPSED
    say(tree, paid, Role.USER, stop=collapsed, events=(RewardEvent(1.0, "goal"),))
    say(tree, paid, Role.USER, stop=StopReason.USER_ENDED)
    say(tree, cut, Role.USER, stop=collapsed, censored=True)
    say(tree, cut, Role.USER, stop=StopReason.USER_ENDED)
    say(tree, failed, Role.USER, stop=StopReason.USER_ENDED)
    say(tree, failed, Role.USER, stop=StopReason.ERROR)

    (decision,) = decisions(tree)
    assert decision.node == opening
    assert decision.tries == {
        golden: Outcome.GOLDEN,
        paid: Outcome.SUCCESSFUL,
        cut: Outcome.CENSORED,
        failed: Outcome.FAILED,
        broken: Outcome.ERROR,
    }


def test_one_answer_alone_and_what_only_resolves_a_branch_are_no_choice():
    tree = DialogueTree("task", 0, 1)
    opening = say(tree, None, Role.USER)
    answer = say(tree, opening, Role.AGENT, stop=StopReason.COLLAPSED, censored=True)
    for _ in range(2):
        reply = say(tree, answer, Role.USER, continuation=True)
        say(tree, reply, Role.AGENT, continuation=True, stop=StopReason.USER_ENDED)
        say(tree, reply, Role.AGENT, continuation=True, stop=StopReason.USER_ENDED)
    assert decisions(tree) == []
