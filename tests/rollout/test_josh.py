import asyncio

import pytest
from scripted import (
    ScriptedAgent,
    ScriptedUser,
    cast_of,
    hit,
    josh,
    lucky,
    say,
    task_of,
    turns_of,
)

from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.play.cast import Cast
from drl.rollout.josh import JoshRollout
from drl.rollout.single import SingleRollout
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, Role, Step, StopReason, Task, Turn
from drl.user_simulator.base import Encounter


def grow(rollout: JoshRollout, task: Task, cast: Cast, trial: int = 0) -> DialogueTree:
    return asyncio.run(rollout.run(task, trial, cast))


def count(tree: DialogueTree, role: Role) -> int:
    return sum(node.turn.role is role for node in tree.nodes)


def outcomes(tree: DialogueTree) -> list[Outcome]:
    return [tree.outcome(leaf) for leaf in tree.leaves()]


@pytest.mark.parametrize(
    ("beam_size", "agent_turns"),
    # doubling until the beam is full, then that many leaves for the rest of the 15 steps
    [
        (1, 15),
        (2, 2 * 15),
        (4, 2 + 4 * 14),
        (6, 2 + 4 * 14),
        (8, 2 + 4 + 8 * 13),
        (16, 2 + 4 + 8 + 16 * 12),
    ],
)
def test_the_beam_doubles_until_it_is_full(beam_size, agent_turns):
    tree = grow(
        josh(beam_size=beam_size), task_of("never"), cast_of(ScriptedAgent(lambda _: say()))
    )
    assert count(tree, Role.AGENT) == agent_turns
    last_replies = len(list(tree.leaves()))
    # one opening, and an answer to every agent turn but the last ones, which nothing would follow
    assert count(tree, Role.USER) == 1 + agent_turns - last_replies


def test_three_children_fill_a_beam_of_nine():
    tree = grow(
        josh(beam_size=9, branching=3, max_steps=3),
        task_of("never"),
        cast_of(ScriptedAgent(lambda _: say())),
    )
    assert count(tree, Role.AGENT) == 3 + 9 + 9


def test_a_reward_cuts_all_other_branches_and_takes_its_goal_off_the_list():
    # step 1: the right one of two branches reaches goal a; step 2 (two branches again): neither;
    # step 3 (four): the first reaches b, the last goal
    agent = ScriptedAgent(turns_of(say(), hit("a"), say(), say(), hit("b"), say(), say(), say()))
    tree = grow(josh(), task_of("a", "b"), cast_of(agent))

    assert outcomes(tree) == [Outcome.CENSORED, Outcome.GOLDEN] + [Outcome.CENSORED] * 3
    golden = next(leaf for leaf in tree.leaves() if leaf.golden)
    assert golden.stop is StopReason.GOALS_REACHED
    assert golden.score == 1.0
    assert golden.open_goals == ()
    assert count(tree, Role.AGENT) == 2 + 2 + 4


def test_rewards_carry_the_call_that_earned_them():
    agent = ScriptedAgent(turns_of(hit("x", "b", "a"), say()))
    tree = grow(josh(), task_of("a", "b", "c"), cast_of(agent))
    events = tree.nodes[1].events
    assert [(event.detail["goal"], event.detail["call"]) for event in events] == [(1, 1), (0, 2)]
    assert [event.amount for event in events] == pytest.approx([1 / 3, 1 / 3])


def test_equal_goals_are_reached_one_call_at_a_time():
    agent = ScriptedAgent(turns_of(hit("a"), say(), hit("a", "a")))
    tree = grow(josh(max_steps=2), task_of("a", "a", "a"), cast_of(agent))
    assert [len(node.events) for node in tree.nodes if node.events] == [1, 2]
    assert tree.best_leaf().score == 1.0


@pytest.mark.parametrize(("collapse_to", "winner"), [("leftmost", 0), ("most_goals", 1)])
def test_the_search_goes_on_with_the_chosen_of_several_rewarded_branches(collapse_to, winner):
    agent = ScriptedAgent(turns_of(hit("a"), hit("a", "b")))
    tree = grow(josh(collapse_to=collapse_to, max_steps=1), task_of("a", "b", "c"), cast_of(agent))
    leaves = [node for node in tree.nodes if node.turn.role is Role.AGENT]
    assert [leaf.golden for leaf in leaves] == [winner == 0, winner == 1]
    assert [leaf.successful for leaf in leaves] == [True, True]
    assert tree.outcome(leaves[1 - winner]) is Outcome.SUCCESSFUL


def test_without_collapses_every_branch_plays_to_its_own_end():
    # step 1: the left branch reaches a; step 2: of its branches the second reaches b, its last
    # goal; step 3: of three the last, which came of the right branch, reaches a
    script = (hit("a"), say(), say(), hit("b"), say(), say(), say(), say(), hit("a"))
    rollout = josh(collapse_to="never", beam_size=4, max_steps=3)
    tree = grow(rollout, task_of("a", "b"), cast_of(ScriptedAgent(turns_of(*script))))
    assert count(tree, Role.AGENT) == 2 + 4 + 3
    ends = sorted((leaf.stop.value, round(leaf.score, 1)) for leaf in tree.leaves())
    assert ends == [("goals_reached", 1), ("max_turns", 0), ("max_turns", 0.5), ("max_turns", 0.5)]
    assert not any(leaf.censored for leaf in tree.leaves())
    golden = [leaf for leaf in tree.leaves() if leaf.golden]
    assert [leaf.stop for leaf in golden] == [StopReason.GOALS_REACHED]


def test_without_collapses_a_beam_fills_again_when_branches_end():
    def act(situation):
        return hit("a") if situation.seed == agent.seeds[0] else say()

    agent = ScriptedAgent(act)
    rollout = josh(collapse_to="never", beam_size=2, max_steps=3)
    tree = grow(rollout, task_of("a"), cast_of(agent))
    # of two branches one reaches the goal; the other branches in the next turn
    assert count(tree, Role.AGENT) == 2 + 2 + 2


def test_without_collapses_a_task_without_goals_branches_too():
    rollout = josh(collapse_to="never", max_steps=2)
    tree = grow(rollout, task_of(), cast_of(ScriptedAgent(lambda _: say())))
    assert count(tree, Role.AGENT) == 2 + 4
    assert [leaf.stop for leaf in tree.leaves()] == [StopReason.MAX_TURNS] * 4
    assert not any(node.golden for node in tree.nodes)


def test_josh_train_counts_a_cut_branch_as_failed():
    agent = ScriptedAgent(turns_of(say(), hit("a")))
    tree = grow(josh(label_cut="failed", max_steps=1), task_of("a"), cast_of(agent))
    assert outcomes(tree) == [Outcome.FAILED, Outcome.GOLDEN]


def test_a_censored_branch_is_continued_to_find_out_how_it_ends():
    # the left branch is cut; of its continuations the first reaches the goal, the second never
    agent = ScriptedAgent(turns_of(say(), hit("a"), hit("a"), say()))
    tree = grow(josh(resolve_censored=2, max_steps=2), task_of("a"), cast_of(agent))
    left = tree.nodes[1]
    assert left.stop is StopReason.COLLAPSED
    assert left.resolved == (1, 2)
    assert tree.outcome(left) is Outcome.SUCCESSFUL
    continuations = [node for node in tree.nodes if node.continuation]
    assert continuations
    assert not any(node.golden or node.successful for node in continuations)
    assert all(tree.path(node.id)[1] is left for node in continuations)


def test_branches_after_the_last_reward_count_as_failed_or_are_censored():
    script = (hit("a"), say())
    harvest, without = (
        grow(
            josh(final_harvest=final, max_steps=2),
            task_of("a", "b"),
            cast_of(ScriptedAgent(turns_of(*script))),
        )
        for final in (True, False)
    )
    assert outcomes(harvest) == [Outcome.CENSORED, Outcome.FAILED, Outcome.FAILED]
    assert outcomes(without) == [Outcome.CENSORED] * 3


def test_a_tree_in_which_all_broke_is_broken_also_without_a_final_harvest():
    class Mute(ScriptedUser):
        async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
            if encounter.history:
                raise ValueError("nothing to say")
            return await super().speak(encounter, llm)

    tree = grow(
        josh(final_harvest=False, max_steps=2),
        task_of("a"),
        cast_of(ScriptedAgent(turns_of()), Mute()),
    )
    assert outcomes(tree) == [Outcome.ERROR] * 2
    assert tree.is_broken


def test_branches_end_when_the_customer_hangs_up():
    user = ScriptedUser(ends_at=2)
    tree = grow(josh(), task_of("a"), cast_of(ScriptedAgent(lambda _: say()), user))
    assert [leaf.stop for leaf in tree.leaves()] == [StopReason.USER_ENDED] * 4
    assert outcomes(tree) == [Outcome.FAILED] * 4
    assert [leaf.score for leaf in tree.leaves()] == [0.0] * 4


def test_branching_at_steps_stores_a_turn_in_several_nodes():
    def act(situation):
        return hit("idle") if len(situation.steps) < 2 else say("over")

    tree = grow(
        josh(branch_at="step", beam_size=4, max_steps=1), task_of("a"), cast_of(ScriptedAgent(act))
    )
    # opening; first steps: 2; second steps: 4; replies: 4
    assert [node.turn.text for node in tree.nodes[1:]] == [None] * 6 + ["over"] * 4
    turns = tree.dialogue(tree.nodes[-1].id)
    assert [len(turn.steps) for turn in turns] == [0, 3]
    assert turns[1].text == "over"


def test_a_task_without_goals_is_one_unscored_dialogue():
    tree = grow(josh(), task_of(), cast_of(ScriptedAgent(lambda _: say())))
    assert count(tree, Role.AGENT) == 15
    assert [leaf.score for leaf in tree.leaves()] == [None]


def test_a_branch_that_broke_is_an_error_and_its_siblings_go_on():
    def act(situation):
        if len(agent.seeds) == 2:
            raise RuntimeError("no answer")
        return say()

    agent = ScriptedAgent(act)
    tree = grow(josh(beam_size=2, max_steps=2), task_of("a"), cast_of(agent))
    broken = tree.nodes[2]
    assert broken.stop is StopReason.ERROR
    assert broken.turn.failure.stage == "agent"
    assert broken.turn.failure.cause == "RuntimeError: no answer"
    assert broken.score is None
    assert sorted(outcomes(tree)) == sorted([Outcome.ERROR, Outcome.FAILED, Outcome.FAILED])


def test_text_that_no_file_can_hold_breaks_its_branch_only():
    tree = grow(
        josh(beam_size=1, max_steps=1),
        task_of("a"),
        cast_of(ScriptedAgent(lambda _: say("\ud800"))),
    )
    assert tree.nodes[1].stop is StopReason.ERROR
    assert from_line(to_line(tree)) == tree


def test_siblings_differ_and_meet_the_same_customer():
    user = ScriptedUser()
    agent = ScriptedAgent(lambda _: say())
    grow(josh(max_steps=3), task_of("a"), cast_of(agent, user))
    assert len(set(agent.seeds)) == len(agent.seeds)
    assert len(set(user.seeds)) == len({index for index, _ in user.seeds})


def test_a_rerun_repeats_and_seeds_and_trials_differ():
    def grown(seed: int, trial: int) -> DialogueTree:
        task = task_of("goal_0", "goal_1", "goal_2")
        return grow(josh(), task, cast_of(ScriptedAgent(lucky(0.2)), seed=seed), trial)

    assert grown(0, 0) == grown(0, 0)
    assert grown(0, 0).nodes != grown(1, 0).nodes
    assert grown(0, 0).nodes != grown(0, 1).nodes


def test_an_agent_that_never_varies_is_refused_unless_asked_for():
    agent = ScriptedAgent(lambda _: say(), explores=False)
    with pytest.raises(ConfigError, match="allow_greedy"):
        josh().check(agent)
    josh(allow_greedy=True).check(agent)
    josh(beam_size=1).check(agent)


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_without_variation_search_finds_no_more_than_one_try(chance):
    task = task_of("goal_0", "goal_1")
    single = SingleRollout(max_steps=15, max_calls=None, concurrency=1)
    agent = ScriptedAgent(lucky(chance), explores=False)
    alone = asyncio.run(single.run(task, 0, cast_of(agent)))
    tree = grow(josh(allow_greedy=True), task, cast_of(agent))
    assert tree.best_leaf().score == alone.best_leaf().score == chance


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": 0}, "rollout.beam_size=0"),
        ({"branching": 3, "beam_size": 2}, "rollout.branching=3 exceeds rollout.beam_size=2"),
        ({"max_steps": 0}, "rollout.max_steps=0"),
        ({"concurrency": 0}, "rollout.concurrency=0"),
        ({"resolve_censored": -1}, "rollout.resolve_censored=-1"),
        ({"resolve_censored": 2, "label_cut": "failed"}, "rollout.resolve_censored=2 .* label_cut"),
        ({"collapse_to": "never", "resolve_censored": 2}, "collapse_to=never censors no branch"),
        ({"collapse_to": "never", "final_harvest": False}, "collapse_to=never censors no branch"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        josh(**settings)


def test_an_agent_out_of_calls_must_reply():
    tree = grow(
        josh(beam_size=1, max_steps=1), task_of("a"), cast_of(ScriptedAgent(lambda _: Step("?")))
    )
    turn = tree.nodes[1].turn
    assert len(turn.steps) == 4  # three steps that neither call nor speak, then a forced reply
    assert turn.text
