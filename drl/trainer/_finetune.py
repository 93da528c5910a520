"""What training by SFT, DPO and KTO share: rows, tokens, one optimisation, an adapter."""

from __future__ import annotations

import random
import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from drl.errors import DataError
from drl.finetune.fit import METRICS, arguments, forget_states, train
from drl.finetune.learner import Learner, load_learner
from drl.finetune.settings import DataSettings, FitSettings, LoraSettings
from drl.llm.base import ADAPTER_OF_RUN
from drl.miner.base import Form, Row
from drl.runtime.progress import progress_bar
from drl.runtime.run_dir import RunDir
from drl.runtime.seeds import derive
from drl.trainer._rows import claim_rows
from drl.trainer.base import Parts, Trainer, chosen
from drl.types import JSON

if TYPE_CHECKING:
    import transformers

RESUME = Path("checkpoints") / "resume"


@dataclass(frozen=True, slots=True)
class Example:
    """One row as the columns that a trainer of TRL reads, the tokens it takes, and its task."""

    columns: Mapping[str, Any]
    num_tokens: int
    num_trained: int
    task_id: str


@dataclass(slots=True)
class Encoded:
    """The examples of a run, and what became of the rows that are not among them."""

    examples: list[Example]
    num_rows: int = 0
    num_too_long: int = 0
    num_cut: int = 0
    num_left_out: int = 0
    """By max_rows and max_tokens."""

    def to_json(self) -> dict[str, JSON]:
        """The counts."""
        return {
            "rows": self.num_rows,
            "sequences": len(self.examples),
            "too_long": self.num_too_long,
            "cut": self.num_cut,
            "left_out": self.num_left_out,
            "tokens": sum(example.num_tokens for example in self.examples),
            "trained_tokens": sum(example.num_trained for example in self.examples),
        }


@dataclass(frozen=True, slots=True)
class Lesson:
    """A trainer of TRL that is ready, and what is to be known of it."""

    trainer: transformers.Trainer
    notes: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(kw_only=True)
class FinetuneTrainer(Trainer):
    """Trains an adapter for `llm` on what the runs or files named by `source` hold.

    If `llm` has an adapter already, it is trained on, and is the reference of DPO and KTO.
    """

    needs = ("llm",)
    form: ClassVar[Form]

    source: list[str]
    data: DataSettings
    lora: LoraSettings
    fit: FitSettings

    @abstractmethod
    def examples(self, row: Row, learner: Learner) -> Iterator[Example | None]:
        """A row as examples; None for one that is too long."""

    @abstractmethod
    def learning(
        self, learner: Learner, examples: Sequence[Example], options: Mapping[str, Any]
    ) -> Lesson:
        """What TRL is to do with these examples.

        Args:
            learner: the model.
            examples: in the order of the data.
            options: what all of TRL's configurations take.
        """

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Train, keep the adapter, and say how it went."""
        rows = claim_rows(parts, run_dir, self.source, self.form)
        weights = chosen(parts.llm).weights()
        started = time.perf_counter()
        learner = load_learner(weights, self.lora, self.fit.attention)
        encoded = self._encode(rows, learner, parts.seed)
        resume = run_dir.path / RESUME
        options = arguments(self.fit, seed=parts.seed % 2**32, device=weights.device, resume=resume)
        lesson = self.learning(learner, encoded.examples, options)
        numbers = self._train(lesson.trainer, parts.name, run_dir)
        learner.save(run_dir.path / ADAPTER_OF_RUN)
        forget_states(resume)
        summary: dict[str, JSON] = {
            "name": parts.name,
            "data": {**encoded.to_json(), **lesson.notes},
            "start": "a new adapter" if learner.is_fresh else str(parts.config["llm"]),
            "training": dict(numbers),
            "seconds": round(time.perf_counter() - started, 2),
            "seed": parts.seed,
            "command": run_dir.provenance()["command"],
        }
        run_dir.write_json("summary.json", summary)
        return summary

    def _train(self, trainer: transformers.Trainer, name: str, run_dir: RunDir) -> dict[str, float]:
        """The optimisation under a progress bar."""
        with progress_bar(f"{name}: updates", 1) as bar:
            return train(
                trainer,
                resume=run_dir.path / RESUME,
                metrics=run_dir.path / METRICS,
                tell=lambda progress: bar.reach(progress.update, progress.num_updates),
            )

    def _encode(self, rows: Iterable[Row], learner: Learner, seed: int) -> Encoded:
        """The examples of the rows that are drawn, in the order of the draw.

        Raises:
            DataError: none is left.
        """
        drawn = list(rows)
        random.Random(derive(seed, "rows")).shuffle(drawn)
        encoded = Encoded([], num_rows=len(drawn))
        num_tokens = 0
        for number, row in enumerate(drawn):
            if self._is_enough(number, num_tokens):
                encoded.num_left_out = len(drawn) - number
                break
            for example in self.examples(row, learner):
                if example is None:
                    encoded.num_too_long += 1
                else:
                    encoded.examples.append(example)
                    num_tokens += example.num_tokens
        if not encoded.examples:
            raise DataError(
                f"none of the {len(drawn)} rows can be trained on, {encoded.num_too_long} are "
                f"longer than trainer.data.max_length={self.data.max_length} tokens; raise it, or "
                "name another trainer.source"
            )
        return encoded

    def _is_enough(self, num_rows: int, num_tokens: int) -> bool:
        data = self.data
        return (data.max_rows is not None and num_rows >= data.max_rows) or (
            data.max_tokens is not None and num_tokens >= data.max_tokens
        )
