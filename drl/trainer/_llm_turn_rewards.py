"""Turn rewards that a language model tells (LLM-GELI, arXiv:2505.15922), for all sessions of a run.

The paper's prompts and decoding are not published; ours are in `drl.labelling`. What the model said
is kept in the run folder session by session, so that a run that is started again goes on.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drl.calls.switchboard import Switchboard
from drl.errors import RunError
from drl.labelling.judge import Judge, Marks, sees_score
from drl.labelling.question import question_of
from drl.labelling.scale import rewards, uniform
from drl.labelling.settings import LabelSettings
from drl.llm.base import NoLLM
from drl.runtime.lines import LineFile, whole_lines
from drl.runtime.progress import progress_bar
from drl.trainer._cast import GRACE_S, open_switchboard
from drl.trainer._workers import attempt, work_through
from drl.trainer.base import Parts
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.session import Session
from drl.types import JSON, Failure

FILE_NAME = "llm_turn_marks.jsonl"

MOST_FAULTS = 10
"""Kinds of faulty replies that the summary lists, the commonest first."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TurnLabels:
    """What became of sessions that a model marked; those it was never asked of are in no mapping.

    `rewards` float [T] by session id, one for each agent turn, in the scale of the reward model:
    the mean over samples. `counts` are for the summary.
    """

    rewards: Mapping[str, Floats]
    counts: Mapping[str, JSON]


def label_run(
    sessions: Sequence[Session],
    parts: Parts,
    folder: Path,
    settings: LabelSettings,
    *,
    target: str,
    score_range: tuple[float, float],
    scaling: ScoreScaling,
) -> TurnLabels:
    """Labels of sessions by the model that `llm` chose, through the run's ledger, cache and budget.

    Args:
        sessions: those to label; only of the training split does the model see scores.
        parts: the run's.
        folder: the run's, for `calls.jsonl` and the marks.
        settings: how the model is asked.
        target: the question that listeners answered, as the dataset calls it.
        score_range: its lowest and highest answer.
        scaling: how the reward model learns scores.

    Raises:
        ConfigError: no model is chosen.
        RunError: the budget is spent, or the model stays away; what is marked is kept.
    """
    question = question_of(target, score_range, settings.question)
    with open_switchboard(parts, folder) as board:

        async def labelled() -> TurnLabels:
            limit = asyncio.Semaphore(settings.concurrency)
            llm = NoLLM("llm") if parts.llm is None else board.line(parts.llm, limit)
            judge = Judge(llm=llm, settings=settings, question=question, seed=parts.seed)
            return await _and_close(board, judge, sessions, folder, scaling)

        return asyncio.run(labelled())


async def _and_close(
    board: Switchboard,
    judge: Judge,
    sessions: Sequence[Session],
    folder: Path,
    scaling: ScoreScaling,
) -> TurnLabels:
    """Labels; at the end all answers that are paid are in, unless an interrupt cuts the wait."""
    at_most_s: float | None = None
    try:
        return await label_sessions(sessions, judge, folder, scaling)
    except (asyncio.CancelledError, KeyboardInterrupt):
        at_most_s = GRACE_S
        raise
    finally:
        await board.drain(at_most_s)
        await board.close()


async def label_sessions(
    sessions: Sequence[Session], judge: Judge, folder: Path, scaling: ScoreScaling
) -> TurnLabels:
    """Labels of sessions; those whose marks lie in the folder are not asked for again.

    Raises:
        RunError: the budget is spent, or the model stays away; what is marked is kept.
    """
    path = folder / FILE_NAME
    with LineFile(path) as lines:
        known = _read(path)
        missing = [session for session in sessions if session.id not in known]
        with progress_bar("turns marked", len(sessions), len(sessions) - len(missing)) as bar:
            broken: list[str] = []

            async def do(session: Session) -> Failure | None:
                found = await attempt(judge.mark(session), "labelling")
                if isinstance(found, Failure):
                    broken.append(found.cause)
                    return found
                lines.append(_line(session.id, found))
                known[session.id] = found
                bar.advance(note=session.id)
                return None

            await work_through(missing, do, min(judge.settings.concurrency, len(missing)))
    if broken and not known:
        raise RunError(
            f"none of {len(sessions)} sessions could be marked, the first for this: {broken[0]}; "
            "mend it and start the same command again"
        )
    return _labels(sessions, known, judge, scaling)


def _labels(
    sessions: Sequence[Session],
    known: Mapping[str, Marks],
    judge: Judge,
    scaling: ScoreScaling,
) -> TurnLabels:
    marked = [session for session in sessions if session.id in known]
    each = {session.id: _scaled(session, known[session.id], judge, scaling) for session in marked}
    faults = Counter(fault for session in marked for fault in known[session.id].faults)
    counts: dict[str, JSON] = {
        "sessions": len(sessions),
        "not_asked": len(sessions) - len(marked),
        "uniform": sum(not len(known[session.id].samples) for session in marked),
        "without_score_shown": sum(not sees_score(session) for session in marked),
        "samples": sum(len(known[session.id].samples) for session in marked),
        "samples_lost": sum(known[session.id].num_lost for session in marked),
        "turn_deviation": _deviation(list(each.values())),
        "faulty_replies": faults.total(),
        "faults": dict(faults.most_common(MOST_FAULTS)),
        "model": judge.llm.model,
        "question": judge.question.words,
    }
    return TurnLabels(
        {name: samples.mean(axis=0) for name, samples in each.items()},
        counts,
    )


def _deviation(each: Sequence[Floats]) -> float | None:
    """The mean standard deviation of a turn's reward over samples; None with one sample a turn."""
    several = [samples.std(axis=0) for samples in each if len(samples) > 1]
    return float(np.concatenate(several).mean()) if several else None


def _scaled(session: Session, marks: Marks, judge: Judge, scaling: ScoreScaling) -> Floats:
    """float [K, T]: rewards by each sample; in equal parts where there is none."""
    score = session.score if sees_score(session) else None
    lowest = judge.question.lowest
    if not len(marks.samples):
        return uniform(len(session.agent_turns), score, scaling)[None]
    return np.stack(
        [rewards(sample, score, judge.settings, scaling, lowest) for sample in marks.samples]
    )


def _line(session_id: str, marks: Marks) -> bytes:
    entry = {
        "session": session_id,
        "samples": marks.samples.tolist(),
        "turns": marks.samples.shape[1],
        "lost": marks.num_lost,
        "faults": marks.faults,
    }
    return json.dumps(entry).encode()


def _read(path: Path) -> dict[str, Marks]:
    """What an earlier start of the same run was told."""
    known: dict[str, Marks] = {}
    for _, line in whole_lines(path):
        entry = json.loads(line)
        samples = np.array(entry["samples"], dtype=np.float64)
        shape = (len(entry["samples"]), entry["turns"])
        known[entry["session"]] = Marks(
            samples.reshape(shape), entry["lost"], tuple(entry["faults"])
        )
    return known
