"""What training by SFT, DPO and KTO share: rows, tokens, one optimisation, an adapter, a check."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from drl.errors import ConfigError
from drl.evaluation.training_console import print_training
from drl.finetune.examples import Example, Lesson, draw
from drl.finetune.fit import arguments, forget_states, train, whole_weights
from drl.finetune.learner import Learner, check_machine, load_learner
from drl.finetune.processes import first_one_first, is_sharded, join
from drl.finetune.settings import DataSettings, FitSettings, LoraSettings
from drl.llm.base import Weights
from drl.miner.base import Form, Row
from drl.runtime.metrics import METRICS, read_metrics
from drl.runtime.progress import progress_bar
from drl.runtime.run_dir import ADAPTER_OF_RUN, RunDir
from drl.trainer._finished import SUMMARY, finished
from drl.trainer._forgetting import check_forgetting
from drl.trainer._rows import check_files, claim_rows, keep_digests
from drl.trainer.base import Parts, Trainer, chosen
from drl.types import JSON

if TYPE_CHECKING:
    import transformers
    from torch import Tensor

_LOG = logging.getLogger(__name__)

RESUME = Path("checkpoints") / "resume"
"""States from which a killed run goes on; transformers writes some of them with pickle, and reads
them back as weights only. They are removed when the training is over."""


@dataclass(kw_only=True)
class FinetuneTrainer(Trainer):
    """Trains an adapter for `llm` on what the runs or files named by `source` hold.

    It is a base class, and no function, since each of its trainers has all of these settings, and
    self-training takes any of them for its rounds.

    If `llm` has an adapter already, it is trained on, and is the reference of DPO and KTO. Runs
    are mined by `miner`, in the language of `agent` or else of the agent that played.
    `check_forgetting` holds the model with its adapter against itself without, when it is trained.
    """

    needs = ("llm",)
    takes_several_processes = True
    form: ClassVar[Form]
    at_end: ClassVar[Mapping[str, str]] = {}
    """Metrics to tell of the end of a training, by the names to tell them under."""

    source: list[str]
    data: DataSettings
    lora: LoraSettings
    fit: FitSettings
    check_forgetting: bool

    @abstractmethod
    def examples(self, row: Row, learner: Learner, longest: int) -> Iterator[Example | None]:
        """A row as examples; None for each that is longer than `longest` tokens."""

    @abstractmethod
    def learning(
        self, learner: Learner, examples: Sequence[Example], options: Mapping[str, Any]
    ) -> Lesson:
        """What TRL is to do with these examples.

        Args:
            learner: the model.
            examples: in the order of the draw.
            options: what all of TRL's configurations take.
        """

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Train, keep the adapter, and say how it went; a run that is over is only told of."""
        check_files(run_dir, self.source)
        summary = finished(run_dir.path, keeps=ADAPTER_OF_RUN)
        if summary is None:
            weights = chosen(parts.llm).weights()
            self.check(weights)
            join(weights.device)
            summary = self._run(parts, run_dir, weights)
            if run_dir.leads:
                run_dir.write_json(SUMMARY, summary)
        if run_dir.leads:
            forget_states(run_dir.path / RESUME)
            print_training(summary, run_dir.path)
        return summary

    def check(self, weights: Weights) -> None:
        """Refuse what cannot be done here, before anything is made for it.

        Raises:
            ConfigError: this machine lacks something, or settings do not go together.
        """
        check_machine(weights, self.lora, self.fit)
        if self.check_forgetting and is_sharded():
            raise ConfigError(
                "trainer.check_forgetting=true needs the whole model in one process, but FSDP or "
                "DeepSpeed share it out; set it to false"
            )

    def _run(self, parts: Parts, run_dir: RunDir, weights: Weights) -> dict[str, JSON]:
        """All the work, from rows to numbers."""
        started = time.perf_counter()
        with first_one_first():  # who mines them
            rows = claim_rows(parts, run_dir, self.source, self.form)
        seed = parts.seed % 2**32  # as numpy has them
        learner = load_learner(weights, self.lora, self.fit.attention, seed)
        start = None if is_sharded() else learner.snapshot()  # shares of weights tell nothing
        longest = min(self.data.max_length, learner.context or self.data.max_length)
        drawn = draw(
            rows, self.data, parts.seed, longest, lambda row: self.examples(row, learner, longest)
        )
        options = arguments(
            self.fit,
            seed=seed,
            device=weights.device,
            resume=run_dir.path / RESUME,
        )
        lesson = self.learning(learner, drawn.examples, options)
        if run_dir.leads:
            keep_digests(run_dir, self.source)
        numbers = _train(lesson.trainer, parts.name, run_dir)
        if start is not None:
            numbers |= {"largest_change": _change(learner, start)}
        whole = whole_weights(lesson.trainer)
        if run_dir.leads:
            learner.save(run_dir.path / ADAPTER_OF_RUN, whole)
        summary: dict[str, JSON] = {
            "name": parts.name,
            "start": start_of(parts),
            "source": self.source,
            "data": {**drawn.to_json(), **lesson.notes},
            "training": numbers | (self._at_end(run_dir) if run_dir.leads else {}),
        }
        if self.check_forgetting and run_dir.leads:
            summary["forgetting"] = check_forgetting(learner, run_dir)
        return summary | {
            "seconds": round(time.perf_counter() - started, 2),
            "seed": parts.seed,
            "command": run_dir.provenance()["command"],
        }

    def _at_end(self, run_dir: RunDir) -> dict[str, float]:
        """What the last line of the metrics says of the form."""
        last = read_metrics(run_dir.path / METRICS)[-1]
        return {told: last[name] for told, name in self.at_end.items() if name in last}


def _change(learner: Learner, start: Mapping[str, Tensor]) -> float:
    """The largest change of a weight; says so where there is none."""
    change = learner.change_since(start)
    if change == 0.0:
        _LOG.warning(
            "the adapter is what it was before the training, so nothing was learned; raise "
            "trainer.fit.learning_rate, or learn from other rows"
        )
    return change


def _train(trainer: transformers.Trainer, name: str, run_dir: RunDir) -> dict[str, JSON]:
    """The optimisation under a progress bar."""
    with progress_bar(f"{name}: updates", total=1) as bar:
        numbers = train(
            trainer,
            resume=run_dir.path / RESUME,
            metrics=run_dir.path / METRICS,
            tell=lambda progress: bar.reach(progress.update, progress.num_updates),
        )
    return dict(numbers)


def start_of(parts: Parts) -> str:
    """From where the training starts, and so what its reference is."""
    node = parts.config["llm"]
    assert isinstance(node, Mapping), "launch built the model from it"
    adapter = node.get("adapter")
    return f"{node['model']} with " + ("a new adapter" if adapter is None else f"{adapter}")
