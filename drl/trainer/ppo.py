"""PPO online: the policy plays, its turns are credited, and it learns from their very tokens.

An update plays some tasks, several times each, with the weights as they are. Every so many updates
the state is kept; a killed run goes on from the last one and plays what it had played again. What
the policy does alone, on tasks that it does not learn on, is evaluated before and after.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import ConfigError
from drl.evaluation.rounds_console import print_rounds
from drl.evaluation.training_console import print_training
from drl.finetune.processes import join
from drl.ppo.settings import CriticSettings, PPOSettings
from drl.report.html import write_report
from drl.runtime.lines import LineFile, whole_lines
from drl.runtime.metrics import METRICS, keep_metrics
from drl.runtime.progress import progress_bar
from drl.runtime.run_dir import RunDir
from drl.runtime.seeds import derive
from drl.runtime.settings import check_positive
from drl.trainer._cast import open_switchboard
from drl.trainer._curves import curves_of
from drl.trainer._evaluations import Evaluations
from drl.trainer._finetune import start_of
from drl.trainer._forgetting import check_forgetting
from drl.trainer._online import Job, Player, temperature_of
from drl.trainer._policy import Learning, WeightsSettings, load_policy
from drl.trainer._rollouts import NEEDS, cards, modes
from drl.trainer._tasks import claim_tasks, data_version
from drl.trainer.base import Parts, Trainer, chosen
from drl.tree.store import RolloutStore
from drl.types import JSON, Task

if TYPE_CHECKING:
    from drl.ppo.learner import PPOLearner

_STATE = Path("checkpoints") / "resume"
_SUMMARY = "summary.json"
_CURVES = (
    "episode/score",
    "objective/scores",
    "objective/kl",
    "policy/entropy_avg",
    "val/explained_variance",
)
_SHARE = 0.1
"""Of the updates: what the beginning and the end of a training are."""


@dataclass(kw_only=True)
class PPOTrainer(Trainer):
    """Takes `updates`, each from `tasks_per_update` tasks that are played `trials` times.

    Tasks come in an order drawn by the seed, again and again. `bootstrap_at_limit`: a dialogue that
    reached the limit of turns is worth more than it earned, as the critic says. What the policy
    does alone is evaluated with `evaluate_trials` of each task of eval_dataset (0: not at all),
    before the first update, after the last, and after every `evaluate_every` (0: none in between).
    `check_forgetting` holds the model with its adapter against itself without.
    """

    needs = (*NEEDS, "llm", "credit")
    keeps_trees = True

    updates: int
    tasks_per_update: int
    trials: int
    weights: WeightsSettings
    critic: CriticSettings | None
    ppo: PPOSettings
    bootstrap_at_limit: bool
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
        self.ppo.check_critic(has_critic=self.critic is not None)
        if self.ppo.baseline == "group" and self.trials < 2:
            raise ConfigError(
                "trainer.ppo.baseline=group compares dialogues of one task, but trainer.trials=1; "
                "raise trials"
            )
        if self.check_forgetting and self.weights.train != "lora":
            raise ConfigError(
                "trainer.check_forgetting=true looks at a model with its adapter and without, but "
                f"trainer.weights.train={self.weights.train}; set it to false"
            )

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
        shutil.rmtree(run_dir.path / _STATE, ignore_errors=True)
        print_training(summary, run_dir.path)
        labels = [f"update {update}" if update else "start" for update in evaluations.updates()]
        if labels:
            headlines, compared = evaluations.headlines(), evaluations.against_start()
            print_rounds(summary, headlines, compared, run_dir.path, labels)
        return summary

    def _run(self, parts: Parts, run_dir: RunDir, evaluations: Evaluations) -> dict[str, JSON]:
        """All the work, from the last state on."""
        from drl.ppo.learner import PPOLearner
        from drl.ppo.policy import Policy

        tasks = claim_tasks(parts, run_dir)
        temperature = temperature_of(parts, tasks[0])
        weights = chosen(parts.llm).weights()
        join(weights.device)
        seed = parts.seed % 2**32  # as numpy has them
        learning = load_policy(weights, self.weights, seed)
        policy = Policy(learning.model, self.critic, temperature, seed)
        learner = PPOLearner(policy, self.ppo, parts.seed)
        calls = self._learn(parts, run_dir, tasks, learning, learner, evaluations)
        learning.save(run_dir.path)
        summary: dict[str, JSON] = {
            "name": parts.name,
            "start": start_of(parts),
            "data": _data(run_dir.path),
            "training": _course(run_dir.path),
            "evaluated": _evaluated(evaluations),
            "modes": modes(parts),
            "data_version": data_version(parts),
            "seed": parts.seed,
            "command": run_dir.provenance()["command"],
            "curves": curves_of(run_dir.path, _CURVES),
        }
        if calls is not None:
            summary["calls"] = calls
        if self.check_forgetting and learning.adapted is not None:
            summary["forgetting"] = check_forgetting(learning.adapted, run_dir)
        write_report(run_dir.path / "report.html", parts.name, summary, cards(tasks, run_dir))
        return summary

    def _learn(
        self,
        parts: Parts,
        run_dir: RunDir,
        tasks: Sequence[Task],
        learning: Learning,
        learner: PPOLearner,
        evaluations: Evaluations,
    ) -> JSON:
        """Updates from the last state on; what model calls took."""
        from drl.ppo.checkpoint import load_learner_state, save_learner

        state, metrics = run_dir.path / _STATE / "learner", run_dir.path / METRICS
        if state.is_dir():
            load_learner_state(learner, state)
        keep_metrics(metrics, learner.num_updates)
        player = Player(parts, learning, run_dir.path, self.bootstrap_at_limit)
        with (
            RolloutStore(run_dir.path) as store,
            open_switchboard(parts, run_dir.path) as board,
            LineFile(metrics) as lines,
            progress_bar(f"{parts.name}: updates", self.updates, learner.num_updates) as bar,
        ):
            while True:
                done = learner.num_updates
                if self._is_evaluated(done):
                    self._evaluate(evaluations, learning, done)
                if done == self.updates:
                    return board.ledger.to_json() if board.ledger.totals else None
                jobs = list(self._jobs(tasks, done, parts.seed))
                played = asyncio.run(player.play(jobs, done, store, board))
                numbers = {**played.numbers, **learner.update(played.trajectories)}
                lines.append(json.dumps({"update": done + 1, **numbers}).encode())
                if (done + 1) % self.save_every == 0 or done + 1 == self.updates:
                    save_learner(learner, state)
                bar.advance()

    def _is_evaluated(self, update: int) -> bool:
        every = self.evaluate_every
        return update in (0, self.updates) or (every > 0 and update % every == 0)

    def _evaluate(self, evaluations: Evaluations, learning: Learning, update: int) -> None:
        """What the policy does alone now; before the first update it is the model as it came."""
        if not self.evaluate_trials:
            return
        changes: dict[str, JSON] = {}
        if update:
            place = learning.save(evaluations.place(update))
            key = "model" if learning.adapted is None else "adapter"
            changes[key] = str(place)
        evaluations.run(update, changes)

    def _jobs(self, tasks: Sequence[Task], update: int, seed: int) -> Iterator[Job]:
        """The tasks of an update; each time that a task comes again its trials go on."""
        first = update * self.tasks_per_update
        for place in range(first, first + self.tasks_per_update):
            lap, rank = divmod(place, len(tasks))
            task = tasks[_order(len(tasks), lap, seed)[rank]]
            for trial in range(self.trials):
                yield task, lap * self.trials + trial


def _order(count: int, lap: int, seed: int) -> list[int]:
    """A shuffle of so many things, one for each lap."""
    return sorted(range(count), key=lambda place: derive("order of tasks", seed, lap, place))


def _course(folder: Path) -> dict[str, JSON]:
    """The training as a whole: scores, distances and steps in its first and last tenth."""
    lines = [json.loads(line) for _, line in whole_lines(folder / METRICS)]
    span = max(1, round(_SHARE * len(lines)))
    first, last = lines[:span], lines[-span:]
    return {
        "updates": len(lines),
        "first_score": _mean(first, "episode/score"),
        "last_score": _mean(last, "episode/score"),
        "last_kl": _mean(last, "objective/kl"),
        "last_entropy": _mean(last, "objective/entropy"),
        "last_explained_variance": _mean(last, "val/explained_variance"),
        "skipped_updates": sum(line["skipped"] for line in lines),
        "stopped_early": sum(line.get("stopped_early", 0.0) for line in lines),
    }


def _data(folder: Path) -> dict[str, JSON]:
    """How much was played and learned from."""
    lines = [json.loads(line) for _, line in whole_lines(folder / METRICS)]
    counts = {"dialogues": "num_trajectories", "turns": "num_turns", "trained_tokens": "num_tokens"}
    counts["broken"] = "episode/broken"
    return {name: int(sum(line[key] for line in lines)) for name, key in counts.items()}


def _mean(lines: Sequence[Mapping[str, float]], name: str) -> float | None:
    values = [line[name] for line in lines if line[name] == line[name]]  # but for NaN
    return sum(values) / len(values) if values else None


def _evaluated(evaluations: Evaluations) -> list[JSON]:
    """What the policy did alone at each point, and its paired difference to the start."""
    compared = [None, *evaluations.against_start()]
    return [
        {
            "update": update,
            **numbers,
            **({} if comparison is None else {"against_start": comparison.to_json()}),
        }
        for update, numbers, comparison in zip(
            evaluations.updates(), evaluations.headlines(), compared, strict=False
        )
    ]
