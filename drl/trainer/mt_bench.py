"""MT-Bench: a model answers its questions, a judge marks each turn, FastChat's files hold it all.

Below the run folder lie `mt_bench/model_answer` and `mt_bench/model_judgment` in FastChat's form;
`drl.evaluation.mt_bench` says what the tables show. A second start goes on, and writes the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from drl.domains.mt_bench.questions import Question
from drl.domains.mt_bench.world import OWN_VERSION
from drl.errors import ConfigError, RunError
from drl.evaluation.mt_bench import comparisons, ratings
from drl.evaluation.mt_bench_console import print_mt_bench
from drl.evaluation.mt_bench_play import (
    Played,
    answer_rows,
    pair_rows,
    played,
    single_rows,
)
from drl.report.html import write_report
from drl.runtime.config import plug_in_of
from drl.runtime.run_dir import ROLLOUTS, RunDir, make_folder
from drl.runtime.settings import check_positive
from drl.trainer._rollouts import NEEDS, cards, roll_out
from drl.trainer._tasks import data_version
from drl.trainer.base import Parts, Trainer, chosen
from drl.tree.store import read_trees
from drl.types import JSON, Task

FOLDER = "mt_bench"
"""Below the run folder; what FastChat calls data/mt_bench."""

_STAND_INS = frozenset({"rule_judge", "scripted", "cue_judge"})
"""Models that read no meaning: what they say measures nothing."""

_CHECK = "A check of the set-up with {what}: these numbers measure no model."
_NOT_SHOWN = ("full_success", "pass_hat_k", "per_group")
"""Of the summary of dialogues: shares of full scores mean nothing here, and groups are the
categories, of which there is a better table."""


@dataclass(kw_only=True)
class MTBenchTrainer(Trainer):
    """Asks every question `trials` times and writes down what the judge says.

    `model_id` is the name in the files; None takes the model's, or the run's where no model speaks.
    Only the first trial is in the file of judgments, as with FastChat; tables are over all.
    """

    needs = NEEDS
    keeps_trees = True

    trials: int
    model_id: str | None

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("trainer", trials=self.trials)
        if self.model_id is not None and self.model_id != _file_name(self.model_id):
            raise ConfigError(
                f"trainer.model_id={self.model_id} names a file; use letters, digits and any of "
                "._+- only"
            )

    def check_parts(self, parts: Parts) -> None:
        """Refuse a reward that asks no judge, a search, and dialogues that end too early.

        Raises:
            ConfigError: with what to choose instead.
        """
        if not chosen(parts.reward).uses_llm:
            raise ConfigError(
                "reward: this one asks no judge, and trainer=mt_bench writes down what a judge "
                "says of each turn; choose reward=judge or reward=judge/mt_bench"
            )
        if not chosen(parts.reward).pays_turns:
            raise ConfigError(
                "reward: this one judges whole dialogues, and trainer=mt_bench writes down what a "
                "judge says of each turn; set reward.when=turn"
            )
        rollout = chosen(parts.rollout)
        if rollout.is_search:
            raise ConfigError(
                "rollout: a search keeps the answer that the judge likes best, and MT-Bench is "
                "about what a model says at once; choose rollout=single"
            )
        if rollout.max_steps < 2:
            raise ConfigError(
                f"rollout.max_steps={rollout.max_steps} ends before the second turn of a question; "
                "raise it to 2"
            )

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Play and judge what is not stored yet, then write files, tables and the report.

        Raises:
            RunError: nothing was judged.
            ConfigError: the tasks are no questions.
        """
        tasks = chosen(parts.dataset).load()
        questions = _questions(tasks)
        summary = roll_out(parts, run_dir, self.trials)
        games = _games(questions, run_dir)
        model = self.model_id or _model_name(parts)
        _write_files(run_dir, games, model)
        summary = {key: value for key, value in summary.items() if key not in _NOT_SHOWN}
        summary |= _tables(games, model)
        label = _check_label(parts)
        if label is not None:
            summary["label"] = label
        run_dir.write_json("summary.json", summary)
        write_report(run_dir.path / "report.html", parts.name, summary, cards(tasks, run_dir))
        print_mt_bench(summary, run_dir.path)
        return summary


def _questions(tasks: Sequence[Task]) -> dict[str, Question]:
    """What the tasks ask, by their ids.

    Raises:
        ConfigError: one is no question.
    """
    questions: dict[str, Question] = {}
    for task in tasks:
        if not isinstance(task.world, Question):
            raise ConfigError(
                f"dataset: task {task.id} is no question of a set like MT-Bench, which "
                "trainer=mt_bench is for; choose dataset=mt_bench, or trainer=evaluate"
            )
        questions[task.id] = task.world
    return questions


def _games(questions: Mapping[str, Question], run_dir: RunDir) -> list[Played]:
    """All that did not break, by question and trial."""
    trees = [tree for tree in read_trees(run_dir.path / ROLLOUTS) if tree.task_id in questions]
    games = [game for tree in trees if (game := played(questions[tree.task_id], tree))]
    return sorted(games, key=lambda game: (game.question.number, game.trial))


def _write_files(run_dir: RunDir, games: Sequence[Played], model: str) -> None:
    """Each file as a whole, so that starting again doubles nothing."""
    started = datetime.fromisoformat(str(run_dir.provenance()["started"])).timestamp()
    files = {Path("model_answer") / f"{model}.jsonl": answer_rows(games, model, started)}
    judges = {str(detail["judge"]) for game in games for detail in game.said}
    for judge in sorted(judges):
        name = _file_name(judge)
        for kind, rows in (("single", single_rows), ("pair", pair_rows)):
            made = [row for row in rows(games, model, started) if _judge_of(row) == judge]
            if made:
                files[Path("model_judgment") / f"{name}_{kind}.jsonl"] = made
    for file, rows in files.items():
        make_folder((run_dir.path / FOLDER / file).parent)
        run_dir.write(str(Path(FOLDER) / file), "".join(f"{json.dumps(row)}\n" for row in rows))


def _tables(games: Sequence[Played], model: str) -> dict[str, JSON]:
    """What the summary says beside what every run of dialogues says.

    Raises:
        RunError: nothing was judged.
    """
    marks = [mark for game in games for mark in game.marks()]
    details = [detail for game in games for detail in game.said]
    if not marks:
        raise RunError(
            f"the judge was asked about no turn; see {ROLLOUTS} for how the dialogues broke"
        )
    causes = Counter(cause for game in games for cause in game.causes())
    baselines = dict.fromkeys(str(d["baseline"]) for d in details if "baseline" in d)
    about: dict[str, JSON] = {
        "model": model,
        "judge": ", ".join(dict.fromkeys(str(detail["judge"]) for detail in details)),
        **({"baseline": ", ".join(baselines)} if baselines else {}),
        "n_judged": sum(mark.is_judged for mark in marks),
        "n_unscored": sum(not mark.is_judged for mark in marks),
        "n_unanswered": sum(game.num_unanswered for game in games),
        "unscored_causes": dict(causes.most_common(20)),
    }
    tables: dict[str, JSON] = {"mt_bench": about}
    bars: dict[str, JSON] = {}
    if any(mark.points is not None for mark in marks):
        tables["ratings"] = rated = ratings(marks)
        bars["Rating by category"] = {"range": [1, 10], "rows": rated["per_category"]}
    if any(mark.outcome is not None for mark in marks):
        tables["comparisons"] = compared = comparisons(marks)
        title = f"Wins against {', '.join(baselines)}, ties counted half"
        bars[title] = {"range": [0, 1], "middle": 0.5, "rows": compared["per_category"]}
    return {**tables, "bars": bars}


def _check_label(parts: Parts) -> str | None:
    """What to say of numbers that measure nothing; None for a measurement."""
    judge = parts.config["judge_llm"]
    assert isinstance(judge, Mapping), "launch refused a run without one"
    found = []
    if data_version(parts) == OWN_VERSION:
        found.append("our own questions")
    if plug_in_of(judge) in _STAND_INS:
        found.append("a judge that only follows a rule")
    return _CHECK.format(what=" and ".join(found)) if found else None


def _judge_of(row: Mapping[str, JSON]) -> str:
    judge = row["judge"]
    assert isinstance(judge, list), "a name and a prompt"
    return str(judge[0])


def _model_name(parts: Parts) -> str:
    """The model's, with a mark of its adapter, so that before and after are two models."""
    if parts.llm is None:
        return _file_name(parts.name)
    adapter = parts.llm.identity.get("adapter", "none")
    return _file_name(parts.llm.model) + ("" if adapter == "none" else f"-adapter-{adapter[:8]}")


def _file_name(name: str) -> str:
    """The last part of a name, of letters that any file name may have."""
    return re.sub(r"[^\w.+-]", "-", name.rstrip("/").rpartition("/")[2]).lstrip(".-") or "model"
