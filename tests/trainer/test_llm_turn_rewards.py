import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from labelling.judged import asked_turns, judge_by, reply, session, settings
from scripted_llm import ScriptedLLM, says

from drl.calls.settings import CallSettings
from drl.errors import ConfigError, RunError
from drl.labelling.settings import LabelSettings
from drl.llm.base import LLM, OutageError, Request
from drl.llm.scripted import ScriptedLLM as ScriptedOption
from drl.trainer._llm_turn_rewards import TurnLabels, label_run
from drl.trainer.base import Parts
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.session import Session

SCALING = ScoreScaling(centre=5.0, scale=2.0, total="sum", length=None)


def _label(
    folder: Path, llm: LLM | None, sessions: Sequence[Session], of: LabelSettings | None = None
) -> TurnLabels:
    parts = Parts(
        config={"name": "labels", "seed": 3, "data_dir": str(folder / "data")},
        calls=CallSettings(budget_usd=None, budget_tokens=None, cache=True, prices={}),
        llm=llm,
    )
    return label_run(
        sessions,
        parts,
        folder,
        of or settings(),
        target="overall_affect",
        score_range=(1.0, 9.0),
        scaling=SCALING,
    )


def test_labels_amount_to_the_score_and_follow_the_marks(tmp_path: Path):
    found = _label(tmp_path, judge_by(lambda turn: turn / 10), [session()])
    rewards = found.rewards["s"]
    assert SCALING.points(rewards) == pytest.approx(7.0)
    assert list(rewards) == sorted(rewards)
    assert found.counts["turn_deviation"] is None  # one sample a turn
    assert found.counts["uniform"] == 0


def test_samples_are_averaged_and_their_spread_is_told(tmp_path: Path):
    answers = iter([1.0, -1.0])
    llm = ScriptedLLM(lambda request, seed: reply({2: next(answers), 4: 0.0, 6: 0.0}))
    found = _label(tmp_path, llm, [session()], settings(samples=2, temperature=1.0))
    # marks 1, 0, 0 less 1/3 and -1, 0, 0 plus 1/3: the mean is level at z / 3 = 1 / 3
    assert found.rewards["s"] == pytest.approx(np.full(3, 1 / 3))
    # the samples lie so far from their means: 2/9, 1/9 and 1/9
    assert found.counts["turn_deviation"] == pytest.approx(4 / 27)


def test_a_session_that_no_judge_can_mark_gets_equal_parts_and_is_counted(tmp_path: Path):
    found = _label(tmp_path, says("No."), [session("a"), session("b")])
    assert found.rewards["a"] == pytest.approx(np.full(3, 1 / 3))
    assert found.counts["uniform"] == 2
    assert found.counts["faulty_replies"] == 4
    assert found.counts["faults"] == {"it holds no JSON object": 4}


def test_only_training_scores_are_shown_and_amounted_to(tmp_path: Path):
    llm = judge_by(lambda turn: 0.5)
    found = _label(tmp_path, llm, [session("a"), session("b", split="test")])
    assert SCALING.points(found.rewards["a"]) == pytest.approx(7.0)
    # every mark is 1/2: half a standard deviation of 2 above the centre of 5
    assert SCALING.points(found.rewards["b"]) == pytest.approx(6.0)
    assert found.counts["without_score_shown"] == 1


def test_a_second_start_asks_only_for_what_is_missing(tmp_path: Path):
    first = _label(tmp_path, judge_by(lambda turn: 0.1), [session("a")])
    llm = judge_by(lambda turn: 0.1)
    second = _label(tmp_path, llm, [session("a"), session("b")])
    assert [request.place.task_id for request in llm.requests if request.place] == ["b"]
    assert second.rewards["a"].tolist() == first.rewards["a"].tolist()


def test_other_rules_need_no_new_questions(tmp_path: Path):
    _label(tmp_path, judge_by(lambda turn: turn / 10), [session()])
    silent = says("No.")
    found = _label(tmp_path, silent, [session()], settings(rule="softmax"))
    assert silent.requests == []
    assert SCALING.points(found.rewards["s"]) == pytest.approx(7.0)


def test_calls_are_in_the_ledger_as_a_judges(tmp_path: Path):
    _label(tmp_path, judge_by(lambda turn: 0.0), [session()])
    entry = json.loads((tmp_path / "calls.jsonl").read_text().splitlines()[0])
    assert (entry["purpose"], entry["task_id"]) == ("judge", "s")


def test_a_few_outages_cost_their_sessions_only(tmp_path: Path):
    def answer(request: Request, seed: int) -> str:
        if request.place is not None and request.place.task_id == "b":
            raise OutageError("away")
        return reply(dict.fromkeys(asked_turns(request), 0.0))

    found = _label(tmp_path, ScriptedLLM(answer), [session("a"), session("b"), session("c")])
    assert set(found.rewards) == {"a", "c"}
    assert found.counts["not_asked"] == 1


def test_a_model_that_stays_away_stops_the_run(tmp_path: Path):
    def answer(request: Request, seed: int) -> str:
        raise OutageError("away")

    with pytest.raises(RunError, match="in a row were lost to outages"):
        _label(tmp_path, ScriptedLLM(answer), [session(str(n)) for n in range(9)])
    with pytest.raises(RunError, match="none of 2 sessions could be marked"):
        _label(tmp_path, ScriptedLLM(answer), [session("a"), session("b")])


def test_without_a_model_the_setting_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match="llm is not chosen"):
        _label(tmp_path, None, [session()])


def test_the_scripted_option_labels_too(tmp_path: Path):
    llm = ScriptedOption(
        model="script",
        replies=[reply({2: 1, 4: 0, 6: -1})],
        order="hash",
        latency_s=0.0,
        fault_rate=0.0,
    )
    found = _label(tmp_path, llm, [session("a"), session("b")])
    assert found.counts["model"] == "script"
    assert found.rewards["a"][0] > found.rewards["a"][2]


def test_a_listener_who_gave_no_score_is_not_amounted_to(tmp_path: Path):
    found = _label(tmp_path, judge_by(lambda turn: 0.5), [replace(session(), score=None)])
    assert SCALING.points(found.rewards["s"]) == pytest.approx(6.0)
