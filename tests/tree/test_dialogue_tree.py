from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, RewardEvent, Role, Step, StopReason, Turn


def forked() -> DialogueTree:
    """A customer's opening, two agent answers, one of them rewarded."""
    tree = DialogueTree("task", 0, 1)
    tree.add(None, Turn(Role.USER, "hi"), (0,))
    tree.add(0, Turn(Role.AGENT, "no"), (0,)).stop = StopReason.USER_ENDED
    rewarded = tree.add(0, Turn(Role.AGENT, "yes"), ())
    rewarded.events = (RewardEvent(1.0, "goal"),)
    rewarded.stop = StopReason.GOALS_REACHED
    tree.mark_successful()
    return tree


def test_success_reaches_up_to_the_root_but_not_to_siblings():
    assert [node.successful for node in forked().nodes] == [True, False, True]


def test_a_branch_is_judged_since_the_last_golden_node():
    tree = forked()
    tree.mark_golden(2)
    tree.add(2, Turn(Role.USER, "bye"), ()).stop = StopReason.USER_ENDED
    assert tree.outcome(tree.nodes[3]) is Outcome.FAILED
    assert tree.outcome(tree.nodes[2]) is Outcome.GOLDEN
    assert tree.outcome(tree.nodes[1]) is Outcome.FAILED


def test_a_dialogue_graded_in_full_did_not_fail_though_no_turn_was_paid_for():
    tree = DialogueTree("task", 0, 0)
    for score in (1.0, 0.9):
        leaf = tree.add(None, Turn(Role.AGENT, "done"), ())
        leaf.stop, leaf.score = StopReason.USER_ENDED, score
    outcomes = [tree.outcome(leaf) for leaf in tree.leaves()]
    assert outcomes == [Outcome.SUCCESSFUL, Outcome.FAILED]


def test_a_dialogue_tried_alone_that_is_graded_0_failed_though_a_turn_was_paid_for():
    tree = DialogueTree("task", 0, 1)
    for score in (0.0, 0.5):
        leaf = tree.add(None, Turn(Role.AGENT, "done"), ())
        leaf.events = (RewardEvent(1.0, "goal"),)
        leaf.stop, leaf.score = StopReason.USER_ENDED, score
    assert [tree.outcome(leaf) for leaf in tree.leaves()] == [Outcome.FAILED, Outcome.SUCCESSFUL]
    tree.mark_golden(1)  # a search tells by its rewards which branches it could have gone on with
    assert tree.outcome(tree.nodes[0]) is Outcome.SUCCESSFUL


def test_the_best_leaf_has_the_highest_score_then_is_golden_then_the_first():
    tree = forked()
    for node, score in zip(tree.nodes[1:], (0.5, 0.5), strict=True):
        node.score = score
    assert tree.best_leaf().id == 1
    tree.mark_golden(2)
    assert tree.best_leaf().id == 2
    tree.nodes[1].score = 0.6
    assert tree.best_leaf().id == 1


def test_a_dialogue_that_was_cut_stands_for_the_tree_only_with_a_higher_score():
    tree = forked()
    tree.nodes[1].stop = StopReason.COLLAPSED
    for node, score in zip(tree.nodes[1:], (0.5, 0.5), strict=True):
        node.score = score
    assert tree.best_leaf().id == 2
    tree.nodes[1].score = 0.6
    assert tree.best_leaf().id == 1


def test_a_tree_whose_golden_branch_broke_is_broken_whatever_was_cut_before():
    tree = forked()
    tree.nodes[1].stop, tree.nodes[1].censored, tree.nodes[1].score = (
        StopReason.COLLAPSED,
        True,
        0.0,
    )
    tree.mark_golden(2)
    tree.nodes[2].stop = None
    tree.add(2, Turn(Role.USER, ""), ()).stop = StopReason.ERROR
    assert tree.is_broken
    assert not forked().is_broken


def test_parts_of_one_turn_are_joined():
    tree = DialogueTree("task", 0, 0)
    tree.add(None, Turn(Role.USER, "hi"), ())
    tree.add(0, Turn(Role.AGENT, None, (Step("a"),)), ())
    tree.add(1, Turn(Role.AGENT, "done", (Step("b", reply="done"),)), ())
    turns = tree.dialogue(2)
    assert [turn.text for turn in turns] == ["hi", "done"]
    assert [step.text for step in turns[1].steps] == ["a", "b"]
    assert tree.num_agent_calls == 2


def test_a_grafted_tree_keeps_its_shape():
    tree, part = forked(), forked()
    tree.graft(part, below=1)
    assert [node.id for node in tree.nodes] == [0, 1, 2, 3, 4, 5]
    assert [node.parent for node in tree.nodes] == [None, 0, 0, 1, 3, 3]
    assert tree.children()[1] == [3]
