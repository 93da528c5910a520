from dataclasses import replace

import pytest

from drl.errors import ConfigError
from drl.evaluation.policy_course import MEASURES, Reply
from drl.trainer._policy_measures import Measured
from drl.trainer._policy_replies import Said, cuts_told, said_in
from drl.trainer._policy_results import Course, paired_samples, reported
from drl.tree.dialogue_tree import DialogueTree
from drl.tree.store import RolloutStore
from drl.types import Brief, Failure, Role, Step, StopReason, Task, Turn


def task(name):
    opening = (Turn(Role.AGENT, "Hello."), Turn(Role.USER, "I passed!"))
    world = {"conversation_id": name[0], "human_reply": "Congratulations!"}
    return Task(name, "test", Brief(()), (), world=world, opening=opening)


def said(name, text):
    return Said(task(name), text, is_cut=False)


def measured(*judged, kl=0.0):
    """A reply in each of as many conversations, which the judge finds worth so much."""
    plain = {**dict.fromkeys(MEASURES, 0.0), "kl": kl}
    return Measured(
        [
            Reply(f"{number}1", str(number), "yes", {**plain, "judge": value})
            for number, value in enumerate(judged)
        ],
        num_broken=1,
    )


def test_the_first_reply_of_each_stands_beside_what_the_human_said():
    start = [said("a1", "Good."), said("a1", "second trial"), said("b1", "Oh.")]
    samples = paired_samples(start, [said("a1", "Great!"), said("b1", "How nice!")])
    assert [dict(each.candidates) for each in samples] == [
        {"start": "Good.", "human": "Congratulations!", "chosen": "Great!"},
        {"start": "Oh.", "human": "Congratulations!", "chosen": "How nice!"},
    ]
    assert [each.conversation for each in samples] == ["a", "b"]
    assert [(each.role, each.content) for each in samples[0].context] == [
        ("assistant", "Hello."),
        ("user", "I passed!"),
    ]


def test_a_place_in_which_the_policy_broke_is_no_sample():
    start = [said("a1", "Good."), said("b1", "Oh.")]
    assert [each.id for each in paired_samples(start, [said("b1", "How nice!")])] == ["b1"]


def test_where_the_start_is_chosen_it_is_tested_and_judged_alone():
    told = reported(measured(1.0, 2.0), None)
    assert (told["contexts"], told["conversations"]) == (2, 2)
    assert not {"chosen", "chosen_minus_start", "best_of_n"} & set(told)
    (sample,) = paired_samples([said("a1", "Good.")], None)
    assert set(sample.candidates) == {"start", "human"}


def test_a_chosen_policy_is_held_against_the_start_in_the_same_contexts():
    told = reported(measured(1.0, 2.0), measured(2.0, 2.0, kl=0.1))
    difference = told["chosen_minus_start"]
    assert difference["judge"]["value"] == pytest.approx(0.5)
    assert told["chosen"]["broken"] == 1
    assert told["best_of_n"]["n"] == 1


def test_curves_stand_against_updates_and_against_the_distance():
    course = Course(
        {0: measured(1.0, 2.0), 4: measured(2.0, 3.0, kl=0.3), 8: measured(2.0, 2.0, kl=0.2)},
        measured(1.0, 2.0),
    )
    curves = course.curves()
    judge = curves["proxy and judge by update"]["lines"]["judge"]
    assert judge["x"] == [0.0, 4.0, 8.0]
    assert judge["y"] == pytest.approx([1.5, 2.5, 2.0])
    lines = curves["proxy and judge by KL"]["lines"]
    assert list(lines) == ["proxy", "judge", "proxy, best of n", "judge, best of n"]
    # by distance update 8 comes before update 4
    assert lines["judge"]["x"] == pytest.approx([0.0, 0.2, 0.3])
    assert lines["judge"]["y"] == pytest.approx([1.5, 2.0, 2.5])
    # one draw for each context: the best of it is itself, at distance 0
    assert lines["judge, best of n"]["x"] == [0.0]
    assert lines["judge, best of n"]["beside"] == "judge"
    assert set(curves["words by KL"]["lines"]) == {"words"}
    assert "kl by KL" not in curves
    # the judge's paired gaps to update 0 are 1 and 1; update 8 is worse than 4 by 0 and 1:
    # mean -0.5, deviation 0.71, over sqrt 2: 0.5, which is not more than a standard error
    assert course.choice().update == 8


def test_a_measure_that_nobody_knows_has_no_curve():
    unknown = [
        replace(each, measures={**each.measures, "hidden": None})
        for each in measured(1.0, 2.0).replies
    ]
    course = Course({0: Measured(unknown, 0)}, Measured(unknown, 0))
    assert not [name for name in course.curves() if name.startswith("hidden")]


def test_dialogues_that_broke_are_counted_and_say_nothing(tmp_path):
    with RolloutStore(tmp_path) as store:
        for name, failure in (("a1", None), ("b1", Failure("agent", "boom"))):
            tree = DialogueTree.of(task(name), 0)
            turn = Turn(Role.AGENT, "Yes.", (Step("Yes.", reply="Yes.", is_cut=True),))
            node = tree.add(None, turn if failure is None else replace(turn, failure=failure), ())
            node.stop = StopReason.MAX_TURNS if failure is None else StopReason.ERROR
            store.append(tree)
    found, num_broken = said_in(tmp_path, [task("a1"), task("b1")])
    assert [(each.task.id, each.text, each.is_cut) for each in found] == [("a1", "Yes.", True)]
    assert num_broken == 1
    assert found[0].utterances[-1] == (Role.AGENT, "Yes.")
    (told,) = cuts_told(tmp_path, [task("a1"), task("b1")])
    assert told.startswith("warning: agent.max_tokens cut off 1 of 1 replies")


def test_tasks_that_tell_no_conversation_are_refused():
    bare = replace(said("a1", "Good.").task, world=None)
    with pytest.raises(ConfigError, match=r"a1 does not tell its human_reply.*dataset=candor"):
        paired_samples([Said(bare, "Good.", is_cut=False)], None)
