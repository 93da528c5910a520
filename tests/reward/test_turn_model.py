"""A trained model as a reward: what it reads, and that rollouts earn what training saw."""

import asyncio
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import NO_JUDGE, CountingWorld, say, task_of

from drl.errors import ConfigError
from drl.reward._turn_scores import TurnScores
from drl.reward.turn_model import TurnModelReward
from drl.turn_reward.model import TurnRewardModel
from drl.turn_reward.session import Utterance
from drl.types import Failure, Role, Step, Task, Turn

MODEL = Path("tests/reward/turn_model/model")
SAID = ["Hello.", "Hi, how are you?", "Fine!  And you?", "Glad\nto hear it.", "Well.", "So?"]


def reward_of(*, scale: float = 1.0, every_turn: bool = True, model: Path = MODEL):
    return TurnModelReward(model=str(model), scale=scale, every_turn=every_turn)


def turns(*said: str, first: Role = Role.USER) -> list[Turn]:
    """Sides that take turns."""
    roles = [first, Role.AGENT if first is Role.USER else Role.USER]
    return [Turn(roles[at % 2], text, (say(text),)) for at, text in enumerate(said)]


def played(reward: TurnModelReward, task: Task, dialogue: list[Turn]) -> list[float]:
    """What the agent's turns earn, one after the other."""

    async def play() -> list[float]:
        amounts = []
        for place, turn in enumerate(dialogue):
            if turn.role is Role.AGENT:
                given = await reward.judge(
                    task, CountingWorld(), dialogue[:place], turn, (), NO_JUDGE
                )
                amounts += [event.amount for event in given.events]
        return amounts

    return asyncio.run(play())


def grade(reward: TurnModelReward, task: Task, dialogue: list[Turn]) -> float | None:
    return asyncio.run(reward.grade(task, CountingWorld(), dialogue, NO_JUDGE))


def model_rewards(dialogue: list[Turn]) -> list[float]:
    said = [Utterance(turn.role, turn.text or "") for turn in dialogue]
    return TurnRewardModel.load(MODEL).rewards(said)


def test_a_rollout_earns_what_a_recorded_session_of_the_same_words_does():
    dialogue = turns(*SAID)
    wanted = model_rewards(dialogue)
    assert len(set(wanted)) == 3
    assert played(reward_of(), task_of(), dialogue) == pytest.approx(wanted, abs=1e-5)
    assert grade(reward_of(), task_of(), dialogue) == pytest.approx(sum(wanted), abs=1e-5)


def test_what_was_said_before_the_rollout_is_read_and_not_paid():
    dialogue = turns(*SAID)
    wanted = model_rewards(dialogue)
    task = replace(task_of(), opening=tuple(dialogue[:3]))
    assert played(reward_of(), task, dialogue[3:]) == pytest.approx(wanted[1:], abs=1e-5)
    assert grade(reward_of(), task, dialogue[3:]) == pytest.approx(sum(wanted[1:]), abs=1e-5)
    assert played(reward_of(), task_of(), dialogue[3:4]) != pytest.approx(wanted[1:2], abs=1e-4)


def test_rewards_are_scaled():
    dialogue = turns(*SAID)
    wanted = [-2.0 * reward for reward in model_rewards(dialogue)]
    assert played(reward_of(scale=-2.0), task_of(), dialogue) == pytest.approx(wanted, abs=1e-5)


def test_the_last_turn_alone_can_be_what_counts():
    reward, dialogue = reward_of(every_turn=False), turns(*SAID)
    assert played(reward, task_of(), dialogue) == []
    assert grade(reward, task_of(), dialogue) == pytest.approx(model_rewards(dialogue)[-1], 1e-4)


def test_a_dialogue_in_which_the_agent_is_silent_is_worth_nothing():
    assert grade(reward_of(), task_of(), turns("Hello?")) == 0.0
    assert grade(reward_of(every_turn=False), task_of(), []) == 0.0


def test_a_part_of_a_turn_earns_once_the_agent_has_spoken():
    hello = turns("Hello.")
    part = Turn(Role.AGENT, None, (Step("call"),))
    whole = Turn(Role.AGENT, "Hi.", (Step("call"), say("Hi.")))
    wanted = model_rewards([*hello, *turns("Hi.", first=Role.AGENT)])
    assert played(reward_of(), task_of(), [*hello, part]) == []
    assert played(reward_of(), task_of(), [*hello, part, whole]) == pytest.approx(wanted, abs=1e-5)


def test_what_broke_is_unscored():
    broken = Turn(Role.AGENT, "", failure=Failure("agent", "boom"))
    assert grade(reward_of(), task_of(), [*turns(*SAID), broken]) is None


def test_dialogues_that_are_played_side_by_side_are_scored_together_and_beside_the_loop():
    asked, threads = [], set()

    def lengths(questions):
        asked.append(len(questions))
        threads.add(threading.current_thread())
        return [float(len(said)) + place for said, place in questions]

    async def play():
        scores = TurnScores(lengths)
        said = [Utterance(Role.AGENT, str(at)) for at in range(9)]
        return await asyncio.gather(*(scores.reward(said[:at], at - 1) for at in range(1, 9)))

    # the dialogue of n turns and its last place: n + n - 1
    assert asyncio.run(play()) == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]
    assert asked == [8]
    assert threading.main_thread() not in threads


def test_questions_that_come_while_others_are_answered_make_the_next_batch():
    asked, go_on = [], threading.Event()

    def slow(questions):
        asked.append(len(questions))
        assert go_on.wait(10)
        return [0.0] * len(questions)

    async def play():
        scores = TurnScores(slow)
        first = asyncio.create_task(scores.reward([], 0))
        while not asked:
            await asyncio.sleep(0.001)
        others = [asyncio.create_task(scores.reward([], 0)) for _ in range(3)]
        await asyncio.sleep(0.01)
        go_on.set()
        await asyncio.gather(first, *others)

    asyncio.run(play())
    assert asked == [1, 3]


def test_an_error_reaches_all_who_asked_and_nobody_after_them():
    fails = [True]

    def once(questions):
        if fails.pop() if fails else False:
            raise ConfigError("no such encoder")
        return [1.0] * len(questions)

    async def play():
        scores = TurnScores(once)
        both = [scores.reward([], 0), scores.reward([], 0)]
        first = await asyncio.gather(*both, return_exceptions=True)
        return [type(each) for each in first], await scores.reward([], 0)

    assert asyncio.run(play()) == ([ConfigError, ConfigError], 1.0)


def test_one_who_gives_up_leaves_the_others_their_answer():
    async def play():
        scores = TurnScores(lambda questions: [float(place) for _, place in questions])
        tasks = [asyncio.create_task(scores.reward([], place)) for place in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    gave_up, *answers = asyncio.run(play())
    assert isinstance(gave_up, asyncio.CancelledError)
    assert answers == [1.0, 2.0]


def test_its_version_is_that_of_the_model(tmp_path):
    copy = shutil.copytree(MODEL.parent, tmp_path / "copy") / "model"
    assert reward_of(model=copy).version == reward_of().version
    model = TurnRewardModel.load(copy)
    model.params["input.bias"] += 1.0
    model.save(copy)
    assert reward_of(model=copy).version != reward_of().version


def test_a_model_that_is_not_there_is_told_by_the_name_of_the_setting(tmp_path):
    reward = reward_of(model=tmp_path)
    with pytest.raises(ConfigError, match=f"reward.model={tmp_path}: .* holds no turn reward"):
        _ = reward.version
    with pytest.raises(ConfigError, match=f"reward.model={tmp_path}: "):
        played(reward, task_of(), turns(*SAID))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": 0.0}, "reward.scale=0.0 must be finite and not 0"),
        ({"scale": float("nan")}, "reward.scale=nan must be finite"),
        ({"model": ""}, "reward.model is empty"),
    ],
)
def test_settings_without_sense_are_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        TurnModelReward(**{"model": str(MODEL), "scale": 1.0, "every_turn": True, **change})
