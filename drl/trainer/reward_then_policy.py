"""From recorded sessions to a policy: learn a turn reward, learn to earn it, and see what it means.

GELI's second half (Lee et al. 2024, arXiv:2403.11330): PPO on places in conversations, rewarded by
a model of turn rewards. Ours beside it: a second model, the judge, that the policy never sees; the
best of n replies of the start at the same distance; and a checkpoint that is chosen before the two
models disagree. Every stage is a run in a folder of its own, and goes on where it was killed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drl.dataset.base import SessionDataset
from drl.errors import ConfigError
from drl.evaluation.policy_course import JUDGE, PROXY, Choice
from drl.evaluation.policy_course_console import print_course
from drl.evaluation.study_samples import PAIRED_SAMPLES, write_samples
from drl.report.html import write_report
from drl.runtime.run_dir import RunDir
from drl.runtime.settings import check_positive
from drl.trainer._finished import SUMMARY, finished
from drl.trainer._online_training import OnlineTrainer
from drl.trainer._policy_checks import check_data, check_players, check_stages, contexts
from drl.trainer._policy_stages import Stages
from drl.trainer._rollouts import NEEDS, cards, modes
from drl.trainer._tasks import data_version
from drl.trainer.base import Parts, Trainer, chosen
from drl.types import JSON, Task

if TYPE_CHECKING:
    from drl.trainer._policy_results import Course

_SYNTHETIC = (
    "The conversations were generated: what is found on them is no evidence about CANDOR, nor about"
    " people. The hidden reward is the generator's own rule."
)


@dataclass(kw_only=True)
class RewardThenPolicyTrainer(Trainer):
    """Trains `reward_model` and `judge`, then lets the policy `learn` from the first.

    With `halves` the two models learn from different halves of the training conversations; without
    they must have different encoders. Rewards are paid and told in deviations over what humans said
    in the training contexts. The policy is evaluated on the contexts of eval_dataset, by
    which a checkpoint is chosen; `draws` replies of the start in each are what the best of n is
    taken from. The chosen one is held against the start in the contexts of `test_split`, once, with
    `test_trials` replies in each.
    """

    needs = (*NEEDS, "credit", "llm", "eval_dataset", "eval_rollout")

    reward_model: Trainer
    judge: Trainer
    learn: Trainer
    halves: bool
    draws: int
    test_split: str
    test_trials: int

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        check_positive("trainer", draws=self.draws, test_trials=self.test_trials)
        if not isinstance(self.learn, OnlineTrainer):
            raise ConfigError(
                f"trainer.learn is a {type(self.learn).__name__}, which learns from no reward as it"
                " plays; choose trainer@trainer.learn=ppo or grpo"
            )
        if self.learn.evaluate_trials < 1:
            raise ConfigError(
                "trainer.learn.evaluate_trials=0 leaves no replies to choose a checkpoint by; set "
                "it to 1 or more"
            )
        if self.learn.weights.train != "lora":
            raise ConfigError(
                f"trainer.learn.weights.train={self.learn.weights.train}, but the distance to the "
                "start is that of an adapter; set it to lora"
            )

    def check_parts(self, parts: Parts) -> None:
        """Refuse parts with which a later stage could not work."""
        whole = parts.config["trainer"]
        assert isinstance(whole, Mapping), "launch built the trainer from it"
        check_stages(whole, halves=self.halves)
        check_players(parts)
        check_data(parts, self.test_split)
        for trainer in (self.reward_model, self.judge, self.learn):
            trainer.check_parts(parts)

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """All stages, then what they amount to; a run that is over is only told of."""
        summary = finished(run_dir.path)
        if summary is None:
            started = time.perf_counter()
            summary = self._run(parts, run_dir)
            summary["seconds"] = round(time.perf_counter() - started, 2)
            run_dir.write_json(SUMMARY, summary)
        print_course(summary, run_dir.path)
        return summary

    def _run(self, parts: Parts, run_dir: RunDir) -> dict[str, JSON]:
        """Stage after stage; each is passed over where it is done."""
        from drl.evaluation.policy_course import agreement
        from drl.trainer._policy_measures import Measuring
        from drl.trainer._policy_replies import cuts_told
        from drl.trainer._policy_results import Course, reported

        stages = Stages(parts, run_dir.path, self.halves)
        train, val, test = contexts(parts, stages, self.test_split)
        told = {
            "reward_model": stages.learn_reward("reward_model", self.reward_model),
            "judge": stages.learn_reward("judge", self.judge),
        }
        stages.find_units(train)
        told["learn"] = stages.learn_policy(self.learn)
        stages.answer(stages.draws, 0, self.draws)
        measuring = Measuring(parts, run_dir, stages)
        replies = {
            update: measuring.replies(stages.evaluated(update), val, update)
            for update in stages.updates()
        }
        course = Course(replies, measuring.replies(stages.draws, val, 0))
        choice = course.choice()
        stages.answer(stages.test("start"), 0, self.draws, self.test_split)
        start = measuring.replies(stages.test("start"), test, 0)
        after = None
        if choice.update:
            folder = stages.test("chosen")
            stages.answer(folder, choice.update, self.test_trials, self.test_split)
            after = measuring.replies(folder, test, choice.update)
        summary = {
            **_about(parts, run_dir, stages, told),
            "notes": [*_notes(parts, course), *cuts_told(stages.draws, val)],
            "choice": _choice_told(choice, stages),
            "test": reported(start, after),
            "agreement_at_start": agreement(course.draws.replies),
            "course": course.to_json(),
            "curves": {**course.curves(), **_training_curves(told["learn"])},
        }
        _publish(parts, run_dir, stages, test, summary)
        return summary


def _about(
    parts: Parts, run_dir: RunDir, stages: Stages, told: Mapping[str, Mapping[str, JSON]]
) -> dict[str, JSON]:
    """What was learned from what."""
    from drl.trainer._policy_results import reward_model_told

    return {
        "name": parts.name,
        "synthetic": _is_synthetic(parts),
        "reward_model": reward_model_told(told["reward_model"], stages.reward_model),
        "judge": reward_model_told(told["judge"], stages.judge),
        "units": {  # of proxy and judge: deviations over what humans said in the training contexts
            PROXY: stages.unit("reward_model"),
            JUDGE: stages.unit("judge"),
        },
        "judge_learned_from": "another half of the training conversations"
        if stages.halves
        else "the same conversations, with another encoder",
        "training": told["learn"]["training"],
        "modes": modes(parts),
        "data_version": data_version(parts),
        "seed": parts.seed,
        "command": run_dir.provenance()["command"],
    }


def _notes(parts: Parts, course: Course) -> list[JSON]:
    """What whoever reads the numbers has to know."""
    notes: list[JSON] = [_SYNTHETIC] if _is_synthetic(parts) else []
    if not course.knows("sentiment"):
        notes.append("Sentiment was not measured: pip install vaderSentiment, and start anew.")
    if course.draws.num_broken:
        notes.append(f"{course.draws.num_broken} replies of the start broke; see stage-4/draws.")
    return notes


def _is_synthetic(parts: Parts) -> bool:
    dataset = chosen(parts.dataset)
    assert isinstance(dataset, SessionDataset), "checked at the start"
    return dataset.is_synthetic


def _choice_told(choice: Choice, stages: Stages) -> dict[str, JSON]:
    from drl.trainer._policy_results import RULE

    adapter = stages.adapter(choice.update)
    return {
        "update": choice.update,
        "parted_at": choice.parted_at,
        "adapter": None if adapter is None else str(adapter.relative_to(stages.folder)),
        "rule": RULE,
    }


def _publish(
    parts: Parts,
    run_dir: RunDir,
    stages: Stages,
    test: Sequence[Task],
    summary: Mapping[str, JSON],
) -> None:
    """The report, with the replies of the test, and paired samples for people to judge."""
    from drl.trainer._policy_replies import said_in
    from drl.trainer._policy_results import paired_samples

    start, after = stages.test("start"), stages.test("chosen")
    has_after = (after / SUMMARY).exists()
    samples = paired_samples(
        said_in(start, test).replies, said_in(after, test).replies if has_after else None
    )
    write_samples(run_dir.path / PAIRED_SAMPLES, samples)
    shown = cards(test, RunDir(after if has_after else start))
    write_report(run_dir.path / "report.html", parts.name, summary, shown)


def _training_curves(learned: Mapping[str, JSON]) -> dict[str, JSON]:
    """The curves of the learner itself, over all of its updates."""
    curves = learned["curves"]
    assert isinstance(curves, Mapping), "the learner wrote them"
    return {f"training: {name}": each for name, each in curves.items()}
