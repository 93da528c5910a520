"""PPO online: the policy plays, its turns are credited, and it learns from their very tokens.

An update plays some tasks, several times each, with the weights as they are. Every so many updates
the state is kept; a killed run goes on from the last one and plays what it had played again. What
the policy does alone, on tasks that it does not learn on, is evaluated before and after.
"""

from __future__ import annotations

from dataclasses import dataclass

from drl.errors import ConfigError
from drl.ppo.settings import CriticSettings, PPOSettings
from drl.runtime.lines import LineFile
from drl.runtime.metrics import METRICS, add_metrics, keep_metrics
from drl.runtime.progress import progress_bar
from drl.trainer._finetune import RESUME
from drl.trainer._online_training import OnlineTrainer, Practice
from drl.trainer.base import Parts, chosen


@dataclass(kw_only=True)
class PPOTrainer(OnlineTrainer):
    """Learns by PPO, which judges decisions by a critic or by other dialogues.

    `bootstrap_at_limit`: a dialogue that reached the limit of turns is worth more than it earned,
    as the critic says.
    """

    curves = (
        "episode/score",
        "objective/kl",
        "policy/entropy_avg",
        "val/explained_variance",
    )
    at_end = {  # noqa: RUF012 as it is of the class
        "last_kl": "objective/kl",
        "last_entropy": "objective/entropy",
        "last_explained_variance": "val/explained_variance",
    }
    in_all = ("stopped_early",)
    trained_tokens = "num_tokens"

    critic: CriticSettings | None
    ppo: PPOSettings
    bootstrap_at_limit: bool

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        super().__post_init__()
        if self.ppo.baseline == "critic" and self.critic is None:
            raise ConfigError(
                "trainer.ppo.baseline=critic, but trainer.critic is null; choose a critic, or "
                "baseline=group or none"
            )
        if self.ppo.baseline == "group" and self.trials < 2:
            raise ConfigError(
                "trainer.ppo.baseline=group compares dialogues of one task, but trainer.trials=1; "
                "raise trials"
            )

    def check_parts(self, parts: Parts) -> None:
        """Refuse a credit for turns where a dialogue is one decision, and what others refuse."""
        super().check_parts(parts)
        if self.ppo.level == "dialogue" and chosen(parts.credit).needs_siblings:
            raise ConfigError(
                "trainer.ppo.level=dialogue makes one decision of all turns, but this credit tells "
                "how good each of them was; use level=turn"
            )

    @property
    def bootstraps(self) -> bool:
        """Whether it is asked what would have come after the limit of turns."""
        return self.bootstrap_at_limit

    def learn(self, practice: Practice, *, bar_title: str) -> None:
        """Updates from the last state on."""
        from drl.ppo.checkpoint import has_state, load_learner_state, save_learner
        from drl.ppo.learner import PPOLearner
        from drl.ppo.policy import Policy

        seed = practice.parts.seed
        model = practice.policy.model
        policy = Policy(model, self.critic, practice.temperature, seed % 2**32)
        learner = PPOLearner(policy, self.ppo, seed)
        state, metrics = practice.folder / RESUME / "learner", practice.folder / METRICS
        if has_state(state):
            load_learner_state(learner, state)
        keep_metrics(metrics, learner.num_updates)
        with (
            LineFile(metrics) as lines,
            progress_bar(bar_title, self.updates, learner.num_updates) as bar,
        ):
            while learner.num_updates < self.updates:
                done = learner.num_updates
                played = practice.play(done)
                numbers = {**played.numbers, **learner.update(played.trajectories)}
                add_metrics(lines, done + 1, numbers)
                if (done + 1) % self.save_every == 0 or done + 1 == self.updates:
                    save_learner(learner, state)
                bar.advance()
