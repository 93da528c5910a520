"""A user that plays its part is certified, and a bad one fails on the right rows."""

import json
from dataclasses import dataclass

import pytest
from scripted import CountingWorld
from trainer.small_runs import start
from trainer.talking import TalkingLLM

from drl.agent.oracle import OracleAgent
from drl.agent.rule import RuleAgent
from drl.calls.ledger import read_entries
from drl.calls.settings import CallSettings
from drl.dataset.base import Dataset
from drl.errors import ConfigError, RunError
from drl.llm.base import Message, Request, Sampling
from drl.reward.goal_api import GoalApiReward
from drl.rollout.single import SingleRollout
from drl.trainer.base import Parts
from drl.trainer.certify_user import CertifyUserTrainer
from drl.tree.store import read_trees
from drl.types import Brief, Goal, Role, Step, Task, Turn, Wish
from drl.user_simulator.agenda import AgendaUserSimulator
from drl.user_simulator.base import Encounter, UserSimulator

BYE = "That is all, goodbye. END_CONVERSATION"
LIMITS = {
    "min_goal_coverage": 0.95,
    "max_leakage": 0.02,
    "max_role_flips": 0.02,
    "max_premature_stops": 0.05,
    "max_endless_talk": 0.05,
    "max_repetitions": 0.05,
    "max_broken_turns": 0.01,
}


def task(number: int) -> Task:
    booked = {"name": "acorn guest house", "reference": f"AB{number}CD3EF"}
    wish = Wish("hotel", {"area": "north", "parking": "yes"}, {}, {"people": "3"}, {}, ())
    return Task(
        id=str(number),
        split="test",
        brief=Brief(("You want a hotel in the north. Make sure you get the reference",), (wish,)),
        goals=(
            Goal("search_hotel", "hotel", {"area": "north"}),
            Goal("book_hotel", "hotel", {"people": "3"}, {"booking": booked}),
        ),
    )


@dataclass
class Hotels(Dataset):
    version: str = "hotels-1"

    def load(self):
        return [task(number) for number in range(20)]


class Lines(UserSimulator):
    """Says its lines in order, the last one again and again."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines

    async def speak(self, encounter: Encounter, llm) -> Turn:
        index = sum(turn.role is Role.USER for turn in encounter.history)
        text = self._lines[min(index, len(self._lines) - 1)]
        if text == "!":
            raise ValueError("it fell silent")
        return Turn(Role.USER, text, (Step(text, reply=text),), "END_CONVERSATION" in text)


GOOD = ("A hotel in the north with free parking.", "Please book it for 3 people.", BYE)


def certify(folder, user, *, num_tasks=4, calls=None, llm=None):
    reward = GoalApiReward(judge_against="task")
    node = {"_target_": "drl.x.y.Z"}
    trainer = CertifyUserTrainer(
        oracle=OracleAgent(max_tool_calls=3, slip=0.0),
        rule=RuleAgent(temperature=0.0, max_tool_calls=3),
        rollout=SingleRollout(max_steps=12, max_calls=None, concurrency=4),
        num_tasks=num_tasks,
        **LIMITS,
    )
    parts = Parts(
        config={
            "name": "x",
            "seed": 0,
            "data_dir": str(folder),
            "user_simulator": node,
            "reward": node,
            "trainer": {"oracle": node, "rule": node, "rollout": node},
        },
        calls=calls or CallSettings(budget_usd=None, budget_tokens=None, cache=True, prices={}),
        dataset=Hotels(),
        environment=CountingWorld(),
        user_simulator=user,
        reward=reward,
        score=reward,
        user_llm=llm,
    )
    return start(trainer, parts, folder / "run")


def broken_measures(summary):
    return {line.split()[0] for line in summary["broken_rules"]}


def test_a_user_that_plays_its_part_is_certified(tmp_path, capsys):
    summary = certify(tmp_path, Lines(*GOOD))
    assert summary["passed"] is True
    assert summary["broken_rules"] == []
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    assert set(summary["agents"]) == {"oracle", "rule"}
    row = summary["agents"]["oracle"]["goal_coverage"]
    assert row["estimate"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 4}
    assert "passes" in capsys.readouterr().out


def test_the_agenda_user_is_certified(tmp_path):
    agenda = AgendaUserSimulator(first_wish="tentative", phrasing="all", patience=3)
    assert certify(tmp_path, agenda)["broken_rules"] == []


@pytest.mark.parametrize(
    ("lines", "broken"),
    [
        (("A hotel in the north.", BYE), {"goal_coverage", "premature_stops"}),
        ((*GOOD[:2], "My reference is ZZ99XX11. " + BYE), {"leakage"}),
        (("Make sure you get the reference.", *GOOD), {"leakage"}),
        (("How can I help you?", *GOOD), {"role_flips"}),
        ((*GOOD[:2], "Thanks.", "Really.", "So nice.", "Well."), {"endless_talk"}),
        (("Hello.", "Hello.", *GOOD), {"repetitions"}),
    ],
)
def test_a_bad_user_fails_on_the_right_rows(tmp_path, lines, broken):
    summary = certify(tmp_path, Lines(*lines))
    assert broken_measures(summary) == broken
    assert summary["passed"] is False


class Fragile(Lines):
    """Breaks in its second turn about every other task."""

    async def speak(self, encounter: Encounter, llm) -> Turn:
        assert encounter.place is not None
        if encounter.history and int(encounter.place.task_id) % 2:
            raise ValueError("it fell silent")
        return await super().speak(encounter, llm)


def test_turns_that_break_fail_on_their_row(tmp_path):
    summary = certify(tmp_path, Fragile(*GOOD), num_tasks=20)
    # half of the dialogues end in the second of two turns, with two of three values said
    assert broken_measures(summary) == {"broken_turns", "goal_coverage"}
    row = summary["agents"]["rule"]["broken_turns"]
    assert row["estimate"]["value"] == pytest.approx(0.5 * 1 / 2)
    assert row["examples"][0]["what"] == "ValueError: it fell silent"


def test_where_every_dialogue_breaks_there_is_no_certificate(tmp_path):
    class Silent(Lines):
        async def speak(self, encounter: Encounter, llm) -> Turn:
            raise ValueError("it fell silent")

    with pytest.raises(RunError, match=r"all 4 rollouts broke, .*it fell silent"):
        certify(tmp_path, Silent("x"))


def test_each_broken_rule_is_a_line_with_its_number_its_limit_and_a_place(tmp_path, capsys):
    summary = certify(tmp_path, Lines("How can I help you?", *GOOD))
    line = summary["broken_rules"][0]
    assert line == (
        "role_flips with agent oracle is 1.000 (1.000 to 1.000, n=4), above "
        'trainer.max_role_flips=0.02; task 3, turn 0: the user speaks as the agent: "How can I '
        'help you?"'
    ).replace("task 3", line[line.index("task ") : line.index(", turn")])
    assert "does not pass" in capsys.readouterr().out


def test_one_run_for_each_agent_is_kept_and_goes_on(tmp_path):
    certify(tmp_path, Lines(*GOOD))
    stores = [tmp_path / "run" / agent / "rollouts.jsonl" for agent in ("oracle", "rule")]
    before = [store.read_bytes() for store in stores]
    assert [len(list(read_trees(store))) for store in stores] == [4, 4]
    again = certify(tmp_path, Lines("It is not asked again. " + BYE))
    assert [store.read_bytes() for store in stores] == before
    assert again["passed"] is True


class Asking(Lines):
    """Asks a model before each line."""

    uses_llm = True

    async def speak(self, encounter: Encounter, llm) -> Turn:
        prompt = Message("user", str(len(encounter.history)))
        sampling = Sampling(temperature=1.0, max_tokens=10)
        place = encounter.place
        await llm.complete(Request((prompt,), sampling, (encounter.seed,), "user", place=place))
        return await super().speak(encounter, llm)


def test_a_budget_is_for_both_runs_together(tmp_path):
    # 4 tasks of 3 turns with one agent are 12 requests of 40 tokens, 480 in all
    def calls(limit):
        return CallSettings(budget_usd=None, budget_tokens=limit, cache=False, prices={})

    with pytest.raises(RunError, match="budget_tokens"):
        certify(tmp_path, Asking(*GOOD), calls=calls(700), llm=TalkingLLM())
    ledgers = [tmp_path / "run" / agent / "calls.jsonl" for agent in ("oracle", "rule")]
    entries = [entry for ledger in ledgers for entry in read_entries(ledger)]
    spent = sum(entry.tokens_in + entry.tokens_out for entry in entries)
    assert 480 <= spent <= 700
    rest = TalkingLLM()
    summary = certify(tmp_path, Asking(*GOOD), calls=calls(1500), llm=rest)
    assert summary["calls"]["oracle"]["user: talker"]["requests"] == 12
    assert 0 < len(rest.asked) <= 12


def test_what_was_asked_before_its_price_was_known_counts_at_the_price_that_is_known_now(tmp_path):
    # 12 requests of 30 tokens in and 10 out with the oracle: 12 * (30 + 10) / 1e6 * 1e6 = 480
    free = CallSettings(budget_usd=None, budget_tokens=None, cache=False, prices={})
    certify(tmp_path, Asking(*GOOD), calls=free, llm=TalkingLLM())
    (tmp_path / "run" / "rule" / "rollouts.jsonl").unlink()
    prices = {"talker": {"input": 1e6, "output": 1e6}}
    calls = CallSettings(budget_usd=480.0, budget_tokens=None, cache=False, prices=prices)
    with pytest.raises(RunError, match=r"budget_usd is used up by .* the other agent"):
        certify(tmp_path, Asking(*GOOD), calls=calls, llm=TalkingLLM())


@pytest.mark.parametrize("limit", [-0.1, 1.1])
def test_a_limit_that_is_no_share_is_refused(limit):
    settings = {
        "oracle": OracleAgent(max_tool_calls=3, slip=0.0),
        "rule": OracleAgent(max_tool_calls=3, slip=0.0),
        "rollout": SingleRollout(max_steps=1, max_calls=None, concurrency=1),
        "num_tasks": 1,
        **LIMITS,
    }
    with pytest.raises(ConfigError, match=r"trainer\.max_leakage=.* must lie in \[0, 1\]"):
        CertifyUserTrainer(**(settings | {"max_leakage": limit}))
    with pytest.raises(ConfigError, match=r"trainer\.min_goal_coverage=.* must lie in \[0, 1\]"):
        CertifyUserTrainer(**(settings | {"min_goal_coverage": limit}))
