"""Self-training: a policy learns from the trees that it grew itself, round by round.

Round 0 evaluates the policy as it comes. Each further round collects trees, mines and learns from
them, and evaluates what came of it on other tasks. Every stage is a run in a folder of its own
below the run, and goes on where it was killed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from drl.errors import ConfigError, DataError
from drl.evaluation.comparison import Comparison, compare_all
from drl.evaluation.console import print_bill_and_place
from drl.evaluation.rounds_console import print_rounds
from drl.evaluation.run_result import read_result
from drl.llm.base import LLM
from drl.mining.mine import check_mining
from drl.runtime.config import build_as
from drl.runtime.run_dir import RunDir
from drl.runtime.seeds import derive
from drl.runtime.settings import check_positive
from drl.trainer._finetune import FinetuneTrainer
from drl.trainer._rollouts import NEEDS
from drl.trainer._stages import for_evaluation, headline, run_stage
from drl.trainer.base import Parts, Trainer, chosen
from drl.types import JSON


@dataclass(frozen=True, slots=True)
class Round:
    """What a round started from and did, and what its policy does alone."""

    record: Mapping[str, JSON]
    evaluated: Mapping[str, JSON]


@dataclass(kw_only=True)
class SelfTrainTrainer(Trainer):
    """Repeats collect, mine, learn and evaluate `rounds` times.

    `collect`, `learn` and `evaluate` are trainers. The policy of the round before grows the trees.
    Learning starts from `last`, the adapter of that round, or from `base`, the model as it came;
    where it starts is also its reference in DPO and KTO. It learns from the trees of `this_round`,
    or of `all_rounds` so far.
    """

    needs = (*NEEDS, "miner", "llm", "eval_dataset", "eval_rollout")

    rounds: int
    start_from: Literal["last", "base"]
    trees: Literal["this_round", "all_rounds"]
    collect: Trainer
    learn: Trainer
    evaluate: Trainer

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("trainer", rounds=self.rounds)
        for stage, trainer in (("collect", self.collect), ("evaluate", self.evaluate)):
            if not trainer.keeps_trees:
                raise ConfigError(
                    f"trainer.{stage} is a {type(trainer).__name__}, which keeps no trees; choose "
                    f"trainer@trainer.{stage}=collect or evaluate"
                )
        if not isinstance(self.learn, FinetuneTrainer):
            raise ConfigError(
                f"trainer.learn is a {type(self.learn).__name__}, which trains no adapter; choose "
                "trainer@trainer.learn=sft, dpo or kto"
            )
        if self.learn.source:
            raise ConfigError(
                f"trainer.learn.source={self.learn.source} is not used: every round learns from "
                "the trees that it collected; leave it out, or use trainer=sft"
            )

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """All rounds, then one table over them."""
        self._check(parts)
        started = time.perf_counter()
        folder = run_dir.path
        rounds = [self._round_0(parts, folder)]
        adapter: Path | None = None
        stopped: _NothingToLearnError | None = None
        for number in range(1, self.rounds + 1):
            try:
                rounds.append(self._round(parts, folder, number, adapter))
            except _NothingToLearnError as error:
                stopped = error  # what went before is summed up all the same
                break
            adapter = _learn_folder(folder, number)
        base, *others = [read_result(_evaluate_folder(folder, r)) for r in range(len(rounds))]
        comparisons = compare_all(base, others)
        summary: dict[str, JSON] = {
            "name": parts.name,
            "rounds": [
                {**this.record, "evaluate": this.evaluated, **_against_base(comparison)}
                for this, comparison in zip(rounds, [None, *comparisons], strict=True)
            ],
            "seconds": round(run_dir.seconds_so_far() + time.perf_counter() - started, 2),
            "seed": parts.seed,
            "command": run_dir.provenance()["command"],
        }
        if stopped is not None:
            summary["stopped"] = str(stopped)
        run_dir.write_json("summary.json", summary)
        labels = ["base", *(f"round {number}" for number in range(1, len(rounds)))]
        evaluated = [this.evaluated for this in rounds]
        print_rounds(summary, evaluated, comparisons, labels)
        print_bill_and_place(summary, folder)
        if stopped is not None:
            raise stopped
        return summary

    def _check(self, parts: Parts) -> None:
        """Refuse stages that cannot work, before anything is spent on those before them."""
        node, weights = parts.config["llm"], chosen(parts.llm).weights()
        if not isinstance(node, Mapping) or "adapter" not in node:
            raise ConfigError(
                "llm has no setting adapter, so what a round learned cannot be used in the next; "
                "choose llm=hf"
            )
        assert isinstance(self.learn, FinetuneTrainer), "checked at the start"
        if chosen(parts.miner).needs_chances:
            raise ConfigError(
                f"miner: {type(parts.miner).__name__} goes by what drl resample finds, which no "
                "round asks; choose another, such as miner=siblings"
            )
        check_mining(chosen(parts.miner), [chosen(parts.agent)], self.learn.form)
        try:
            self.learn.check(weights)
        except ConfigError as error:
            raise ConfigError(f"in trainer.learn: {error}") from error

    def _round_0(self, parts: Parts, folder: Path) -> Round:
        """The policy as it comes, evaluated before anything is learned."""
        record: dict[str, JSON] = {"round": 0, "start_and_reference": None, "data": []}
        return Round(record, self._evaluate(parts, folder, 0, None))

    def _round(self, parts: Parts, folder: Path, number: int, last: Path | None) -> Round:
        """Trees that the last policy grows, rows, an adapter, and what that one is worth."""
        start = last if self.start_from == "last" else None
        playing = _for_stage(_reseeded(parts, number), "collect", self.collect, last)
        collected = _run_stage(playing, self.collect, _collect_folder(folder, number))
        first = 1 if self.trees == "all_rounds" else number
        source = [str(_collect_folder(folder, r)) for r in range(first, number + 1)]
        assert isinstance(self.learn, FinetuneTrainer), "checked at the start"
        learn = replace(self.learn, source=source)
        learning = _for_stage(parts, "learn", learn, start)
        try:
            learned = _run_stage(learning, learn, _learn_folder(folder, number))
        except DataError as error:
            raise _NothingToLearnError(
                f"round {number}: {error}; raise dataset.limit, or begin with a model that "
                "succeeds sometimes, such as llm=hf/smollm2_toolwoz"
            ) from error
        told = str(start.relative_to(folder)) if start is not None else "as it came"
        record: dict[str, JSON] = {
            "round": number,
            "player": str(last.relative_to(folder)) if last is not None else "as it came",
            "start_and_reference": told,
            "data": [str(Path(name).relative_to(folder)) for name in source],
            "collect": headline(collected),
            "learn": {key: learned.get(key) for key in ("data", "training", "forgetting")},
        }
        adapter = _learn_folder(folder, number)
        return Round(record, self._evaluate(parts, folder, number, adapter))

    def _evaluate(
        self, parts: Parts, folder: Path, number: int, adapter: Path | None
    ) -> dict[str, JSON]:
        """What the policy does alone, on the tasks and with the customer of evaluations."""
        trying = _for_stage(for_evaluation(parts), "evaluate", self.evaluate, adapter)
        return headline(_run_stage(trying, self.evaluate, _evaluate_folder(folder, number)))


class _NothingToLearnError(DataError):
    """The trees of a round give no rows."""


def _run_stage(parts: Parts, trainer: Trainer, folder: Path) -> Mapping[str, JSON]:
    return run_stage(parts, folder, lambda run_dir: trainer.run(parts, run_dir))


def _collect_folder(folder: Path, number: int) -> Path:
    return folder / f"round-{number}" / "collect"


def _learn_folder(folder: Path, number: int) -> Path:
    return folder / f"round-{number}" / "learn"


def _evaluate_folder(folder: Path, number: int) -> Path:
    return folder / f"round-{number}" / "evaluate"


def _for_stage(parts: Parts, stage: str, trainer: Trainer, adapter: Path | None) -> Parts:
    """The parts of one stage: its trainer's node, and the model with an adapter.

    `adapter` None leaves the model as it came.
    """
    whole, model = parts.config["trainer"], parts.config["llm"]
    assert isinstance(whole, Mapping), "launch built the trainer from it"
    assert isinstance(model, Mapping), "launch built the model from it"
    node = whole[stage]
    assert isinstance(node, Mapping), "launch built the trainer from it"
    if isinstance(trainer, FinetuneTrainer):
        node = {**node, "source": trainer.source}
    config = {**parts.config, "trainer": node}
    if adapter is None:
        return replace(parts, config=config)
    model = {**model, "adapter": str(adapter)}
    return replace(parts, config={**config, "llm": model}, llm=build_as("llm", model, LLM))


def _reseeded(parts: Parts, number: int) -> Parts:
    """The parts with the seed of a round, so that no round repeats the dialogues of another."""
    seed = derive("round", parts.seed, number) % 2**31
    return replace(parts, config={**parts.config, "seed": seed})


def _against_base(comparison: Comparison | None) -> dict[str, JSON]:
    """The paired differences to round 0; for that round itself nothing."""
    return {} if comparison is None else {"against_base": comparison.to_json()}
