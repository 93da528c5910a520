"""Learns a turn reward from recorded sessions: from one score each, from reactions, or from both.

Every agent turn goes through a frozen encoder once; on what comes of it many heads learn at once,
of several seeds, objectives and shuffled controls. What they are worth is measured on conversations
that none of them saw. GELI, Lee et al. 2024 (arXiv:2403.11330), and what it is compared with.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drl.dataset.base import SessionDataset
from drl.errors import ConfigError
from drl.evaluation.turn_rewards_console import print_turn_rewards
from drl.labelling.settings import LabelSettings
from drl.runtime.run_dir import ADAPTER_OF_RUN, RunDir
from drl.runtime.settings import check_positive
from drl.trainer._curves import curves_of
from drl.trainer._finished import SUMMARY, finished
from drl.trainer._reward_model_arms import ArmSettings
from drl.trainer.base import Parts, Trainer, chosen
from drl.turn_reward.encoder import EncoderSettings
from drl.turn_reward.settings import (
    HeadSettings,
    ObjectiveSettings,
    TrainingSettings,
    TuneSettings,
)
from drl.turn_reward.text_format import TextFormat
from drl.types import JSON

if TYPE_CHECKING:
    import numpy as np

    from drl.trainer._reward_model_heads import Learned, Plan
    from drl.trainer._reward_model_results import Results
    from drl.turn_reward.head import Params
    from drl.turn_reward.session import Session


@dataclass(frozen=True)
class _Ready:
    """Sessions, the encoder that reads them, and the head to begin with, if there is one."""

    sessions: Sequence[Session]
    encoder: EncoderSettings
    start: Params | None
    num_epochs: int


@dataclass(kw_only=True)
class RewardModelTrainer(Trainer):
    """Embeds sessions, learns heads, and keeps the first seed's as the model of the run.

    `tune`: train the encoder on labels first; None leaves it as it is. `encoder.model` may name a
    run that did so. `start`: the run whose model heads begin with. `labelling`: how the language
    model `llm` is asked for targets, where `objective.local` is targets. `seeds`: heads of each
    arm. `heads_at_once`: learn together, at most; memory and, by rounding, last digits.
    """

    needs = ("dataset",)

    data_dir: str
    text_format: TextFormat
    encoder: EncoderSettings
    tune: TuneSettings | None
    start: str | None
    labelling: LabelSettings | None
    head: HeadSettings
    objective: ObjectiveSettings
    training: TrainingSettings
    arms: ArmSettings
    seeds: int
    heads_at_once: int

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        check_positive("trainer", seeds=self.seeds, heads_at_once=self.heads_at_once)
        self.arms.arms(self.objective, self.training.learning_rate)
        if self.tune is not None and self.head.kind == "lstm":
            raise ConfigError(
                "trainer.tune trains the encoder on single turns, but trainer.head.kind=lstm reads "
                "those before as well; set trainer.tune=null or another head"
            )
        if self.tune is not None and self.start is not None:
            raise ConfigError(
                f"trainer.start={self.start} and trainer.tune both say what heads begin with; set "
                "one of them to null"
            )
        if self.training.epochs == 0 and self.tune is None and self.start is None:
            raise ConfigError(
                "trainer.training.epochs=0 keeps what heads begin with, which is chance; raise it, "
                "or set trainer.start or trainer.tune"
            )
        if (self.objective.local == "targets") != (self.labelling is not None):
            raise ConfigError(
                f"trainer.objective.local={self.objective.local} and trainer.labelling do not go "
                "together: targets come of labelling, and nothing else does; use "
                "trainer=reward_model/llm_geli, or set trainer.labelling=null"
            )

    def check_parts(self, parts: Parts) -> None:
        """Refuse a dataset without sessions, and targets that nobody could give."""
        _sessions_of(parts)
        if self.labelling is not None and parts.llm is None:
            raise ConfigError(
                "llm is not chosen, but trainer.labelling asks one for turn rewards; add llm=NAME"
            )

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Learn, measure, keep; a run that is over is only told of."""
        summary = finished(run_dir.path, keeps=ADAPTER_OF_RUN)
        if summary is None:
            summary = self._run(parts, run_dir)
            run_dir.write_json(SUMMARY, summary)
        print_turn_rewards(summary, run_dir.path)
        return summary

    def _run(self, parts: Parts, run_dir: RunDir) -> dict[str, JSON]:
        """All the work, from sessions to numbers."""
        started = time.perf_counter()
        dataset = _sessions_of(parts)
        run_dir.claim_data(dataset.version)
        ready = self._ready(parts, run_dir, dataset)
        targets, counts = self._targets(parts, run_dir, dataset, ready)
        learned, found = self._learned(parts, run_dir, dataset, ready, targets)
        self._keep(run_dir.path, ready.encoder, learned)
        main = found.arms[0].arm.name
        summary: dict[str, JSON] = {
            "name": parts.name,
            **found.to_json(),
            "dataset": dict(dataset.report()),
            "data_version": dataset.version,
            "synthetic": dataset.is_synthetic,
            "score_range": list(dataset.score_range),
            "encoder": ready.encoder.model if self.tune is None else "trained on labels here",
            "seeds": self.seeds,
            **counts,
            "curves": curves_of(
                run_dir.path,
                ("encoder/train", "encoder/val", *(f"{main}/{part}" for part in ("train", "val"))),
            ),
            "seconds": round(time.perf_counter() - started + run_dir.seconds_so_far(), 2),
            "seed": parts.seed,
            "command": run_dir.provenance()["command"],
        }
        from drl.trainer._reward_model_results import write_report

        write_report(run_dir.path / "report.html", parts.name, summary, found)
        return summary

    def _ready(self, parts: Parts, run_dir: RunDir, dataset: SessionDataset) -> _Ready:
        """The usable sessions, and an encoder for them, which is trained here if that is asked."""
        from drl.trainer._reward_model_data import usable
        from drl.trainer._reward_model_encoder import encoder_of, tuned_encoder

        sessions = usable(dataset.sessions())
        encoder = encoder_of(self.encoder)
        if self.tune is None:
            return _Ready(sessions, encoder, self._start(), 0)
        tuned = tuned_encoder(
            run_dir.path, encoder, self.text_format, self.head, self.tune, sessions, parts.seed
        )
        return _Ready(sessions, tuned.settings, tuned.params, tuned.num_epochs)

    def _start(self) -> Params | None:
        """The weights that heads begin with."""
        if self.start is None:
            return None
        from drl.turn_reward.model import TurnRewardModel

        model = TurnRewardModel.load(Path(self.start))
        if model.head != self.head:
            raise ConfigError(
                f"trainer.start={self.start} has the head {model.head}, but trainer.head is "
                f"{self.head}; make them equal"
            )
        return model.params

    def _targets(
        self, parts: Parts, run_dir: RunDir, dataset: SessionDataset, ready: _Ready
    ) -> tuple[Mapping[str, np.ndarray], dict[str, JSON]]:
        """What a language model marked, by session, and counts; nothing where none is asked."""
        if self.labelling is None:
            return {}, {}
        from drl.trainer._reward_model_targets import targets

        return targets(ready.sessions, parts, run_dir.path, self.labelling, self.objective, dataset)

    def _learned(
        self,
        parts: Parts,
        run_dir: RunDir,
        dataset: SessionDataset,
        ready: _Ready,
        targets: Mapping[str, np.ndarray],
    ) -> tuple[list[Learned], Results]:
        """All heads, and what held-out sessions say of them."""
        from drl.models.source import resolve_device
        from drl.trainer._reward_model_data import material
        from drl.trainer._reward_model_heads import learn_heads
        from drl.trainer._reward_model_results import results
        from drl.turn_reward.embed import embed

        loaded = ready.encoder.load()
        embedded = embed(
            ready.sessions, loaded, self.text_format, Path(self.data_dir), dataset.version
        )
        device = resolve_device("trainer.encoder.device", self.encoder.device)
        del loaded  # heads may want its memory
        stuff = material(ready.sessions, embedded, targets, device)
        learned = learn_heads(
            self.arms.arms(self.objective, self.training.learning_rate),
            stuff,
            self._plan(parts.seed, dataset.score_range),
            run_dir.path,
            num_before=ready.num_epochs,
            start=ready.start,
        )
        found = results(
            stuff, learned, dataset.folder, parts.seed, is_synthetic=dataset.is_synthetic
        )
        return learned, found

    def _plan(self, seed: int, score_range: tuple[float, float]) -> Plan:
        from drl.trainer._reward_model_heads import Plan

        return Plan(
            head=self.head,
            training=self.training,
            seeds=self.seeds,
            at_once=self.heads_at_once,
            score_range=score_range,
            seed=seed,
        )

    def _keep(self, folder: Path, encoder: EncoderSettings, learned: Sequence[Learned]) -> None:
        """The models of the run: those of its own method, the first seed's in place of an adapter.

        The others stand beside it: rewards that were learned apart from those that a policy is
        trained with tell whether it got better or only found their faults.
        """
        from drl.turn_reward.model import TurnRewardModel

        own = [each for each in learned if each.arm is learned[0].arm]
        # the first one last: with it the run is over
        for number, each in reversed(list(enumerate(own))):
            model = TurnRewardModel(
                encoder=encoder,
                text_format=self.text_format,
                head=each.head,
                params=each.params,
                scaling=each.scaling,
            )
            final = folder / ADAPTER_OF_RUN
            model.save(final if number == 0 else final.with_name(f"seed_{number}"))


def _sessions_of(parts: Parts) -> SessionDataset:
    dataset = chosen(parts.dataset)
    if not isinstance(dataset, SessionDataset):
        raise ConfigError(
            f"dataset: {type(dataset).__name__} has tasks, but trainer=reward_model learns from "
            "recorded sessions; use dataset=candor"
        )
    return dataset
