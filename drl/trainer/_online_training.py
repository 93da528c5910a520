"""What trainings by playing share: a policy that plays, evaluations of it, a summary, a report."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from drl.calls.switchboard import Switchboard
from drl.errors import ConfigError
from drl.evaluation.rounds_console import print_rounds
from drl.evaluation.training_console import print_training
from drl.finetune.processes import join
from drl.report.html import write_report
from drl.runtime.run_dir import RunDir
from drl.runtime.settings import check_positive
from drl.trainer._cast import open_switchboard
from drl.trainer._course import data_of, evaluated, evaluated_in_short, training_of
from drl.trainer._curves import curves_of
from drl.trainer._evaluations import Evaluations
from drl.trainer._finetune import RESUME, start_of
from drl.trainer._forgetting import check_forgetting
from drl.trainer._online import Played, Player, temperature_of
from drl.trainer._policy import RunPolicy, WeightsSettings, load_policy
from drl.trainer._rollouts import NEEDS, cards, modes
from drl.trainer._schedule import Schedule
from drl.trainer._tasks import claim_tasks, data_version
from drl.trainer.base import Parts, Trainer, chosen
from drl.tree.store import RolloutStore
from drl.types import JSON

_SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class Practice:
    """A policy, and the tasks that it plays with its weights as they are.

    Every `evaluate_every` updates (0: not on the way) it is evaluated before it plays on.
    `temperature` is that at which it samples.
    """

    parts: Parts
    folder: Path
    policy: RunPolicy
    temperature: float
    schedule: Schedule
    evaluations: Evaluations
    evaluate_every: int
    player: Player
    store: RolloutStore
    board: Switchboard

    def play(self, update: int) -> Played:
        """Play the tasks of the update that comes after so many.

        Raises:
            RunError: all dialogues broke, or models were out.
            ConfigError: the agent's model gives no tokens.
        """
        if update == 0 or (self.evaluate_every and update % self.evaluate_every == 0):
            self.evaluate(update)
        jobs = list(self.schedule.jobs(update))
        return asyncio.run(self.player.play(jobs, update, self.store, self.board))

    def evaluate(self, update: int) -> None:
        """What the policy does alone now; before the first update it is the model as it came."""
        if not self.evaluations.trials:
            return
        changes: dict[str, JSON] = {}
        if update:
            place = self.policy.save(self.evaluations.place(update))
            key = "model" if self.policy.adapted is None else "adapter"
            changes[key] = str(place)
        self.evaluations.run(update, changes)


@dataclass(kw_only=True)
class OnlineTrainer(Trainer):
    """Takes `updates`, each from `tasks_per_update` tasks that are played `trials` times.

    It is a base class, and no function, since each of its trainers has all of these settings.

    Tasks come in an order drawn by the seed, again and again. What the policy does alone is
    evaluated with `evaluate_trials` of each task of eval_dataset (0: not at all), before the first
    update, after the last, and after every `evaluate_every` (0: none in between). Every
    `save_every` updates the state is kept from which a killed run goes on.
    `check_forgetting` holds the model with its adapter against itself without.
    """

    needs = (*NEEDS, "llm", "credit")
    keeps_trees = True
    curves: ClassVar[tuple[str, ...]]
    """Metrics to draw in the report."""
    at_end: ClassVar[Mapping[str, str]]
    """Metrics to tell of the end of a training, by the names to tell them under."""
    in_all: ClassVar[tuple[str, ...]] = ()
    """Metrics of which to tell the sum."""
    trained_tokens: ClassVar[str]
    """The metric that counts the tokens that were learned from."""

    updates: int
    tasks_per_update: int
    trials: int
    weights: WeightsSettings
    evaluate_trials: int
    evaluate_every: int
    save_every: int
    check_forgetting: bool

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        check_positive(
            "trainer",
            updates=self.updates,
            tasks_per_update=self.tasks_per_update,
            trials=self.trials,
            save_every=self.save_every,
        )
        for name, value in (
            ("evaluate_trials", self.evaluate_trials),
            ("evaluate_every", self.evaluate_every),
        ):
            if value < 0:
                raise ConfigError(f"trainer.{name}={value} must not be negative; 0 leaves it out")
        if self.check_forgetting and self.weights.train != "lora":
            raise ConfigError(
                "trainer.check_forgetting=true looks at a model with its adapter and without, but "
                f"trainer.weights.train={self.weights.train}; set it to false"
            )

    def check_parts(self, parts: Parts) -> None:
        """Refuse rollouts of which only what a reward chose is left: that is not the policy."""
        if chosen(parts.rollout).cuts_branches:
            raise ConfigError(
                "rollout: this one cuts branches, or tries no more, because of what others earned, "
                f"and {type(self).__name__} would learn from a choice instead of from what the "
                "policy does; set rollout=single, rollout=josh/no_collapse, or rollout=best_of_n "
                "by num_dialogues"
            )

    @abstractmethod
    def learn(self, practice: Practice, *, bar_title: str) -> None:
        """Take all updates, from the last state on; each begins with `practice.play`.

        Its metrics are a line for each update. States lie below `RESUME` in the folder of the run.
        """

    @property
    def bootstraps(self) -> bool:
        """Whether it is asked what would have come after the limit of turns."""
        return False

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Evaluate, learn, evaluate; a run that is over is only told of."""
        evaluations = Evaluations(self.evaluate_trials, parts, run_dir.path)
        summary_file = run_dir.path / _SUMMARY
        if not summary_file.exists():
            evaluations.check()
            started = time.perf_counter()
            summary = self._run(parts, run_dir, evaluations)
            seconds = run_dir.seconds_so_far() + time.perf_counter() - started
            run_dir.write_json(_SUMMARY, {**summary, "seconds": round(seconds, 2)})
        summary = json.loads(summary_file.read_text())
        shutil.rmtree(run_dir.path / RESUME, ignore_errors=True)
        labels = [f"update {update}" if update else "start" for update in evaluations.updates()]
        if labels:
            headlines, compared = evaluations.headlines(), evaluations.against_start()
            print_rounds(summary, headlines, compared, labels)
        print_training(summary, run_dir.path)
        return summary

    def _run(self, parts: Parts, run_dir: RunDir, evaluations: Evaluations) -> dict[str, JSON]:
        """All the work, from the last state on."""
        tasks = claim_tasks(parts, run_dir)
        temperature = temperature_of(parts, tasks[0])
        weights = chosen(parts.llm).weights()
        join(weights.device)
        policy = load_policy(weights, self.weights, parts.seed % 2**32)  # as numpy has them
        with (
            RolloutStore(run_dir.path) as store,
            open_switchboard(parts, run_dir.path) as board,
        ):
            practice = Practice(
                parts=parts,
                folder=run_dir.path,
                policy=policy,
                temperature=temperature,
                schedule=Schedule(tasks, self.tasks_per_update, self.trials, parts.seed),
                evaluations=evaluations,
                evaluate_every=self.evaluate_every,
                player=Player(parts, policy, run_dir.path, self.bootstraps),
                store=store,
                board=board,
            )
            self.learn(practice, bar_title=f"{parts.name}: updates")
            practice.evaluate(self.updates)
            calls = board.ledger.to_json() if board.ledger.totals else None
        policy.save(run_dir.path)
        summary = self._summary(parts, run_dir, evaluations)
        if calls is not None:
            summary["calls"] = calls
        if self.check_forgetting and policy.adapted is not None:
            summary["forgetting"] = check_forgetting(policy.adapted, run_dir)
        shown = {**summary, "evaluated": evaluated_in_short(evaluations)}
        write_report(run_dir.path / "report.html", parts.name, shown, cards(tasks, run_dir))
        return summary

    def _summary(self, parts: Parts, run_dir: RunDir, evaluations: Evaluations) -> dict[str, JSON]:
        """What the files of the run tell."""
        return {
            "name": parts.name,
            "start": start_of(parts),
            "data": data_of(run_dir.path, self.trained_tokens),
            "training": training_of(run_dir.path, self.at_end, self.in_all),
            "evaluated": evaluated(evaluations),
            "modes": modes(parts),
            "data_version": data_version(parts),
            "seed": parts.seed,
            "command": run_dir.provenance()["command"],
            "curves": curves_of(run_dir.path, self.curves),
        }
