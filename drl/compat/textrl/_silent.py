"""TRL's trainers as they are, but that they do not tell their makers that they are used.

Imports torch and TRL.
"""

from __future__ import annotations

from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.kto_trainer import KTOTrainer
from trl.trainer.reward_trainer import RewardTrainer
from trl.trainer.rloo_trainer import RLOOTrainer


class SilentGRPOTrainer(GRPOTrainer):
    """Group relative policy optimisation (arXiv:2402.03300)."""

    def _send_telemetry(self) -> None:
        pass


class SilentRLOOTrainer(RLOOTrainer):
    """REINFORCE with a leave-one-out baseline (arXiv:2402.14740)."""

    def _send_telemetry(self) -> None:
        pass


class SilentDPOTrainer(DPOTrainer):
    """Direct preference optimisation (arXiv:2305.18290) and the losses near it."""

    def _send_telemetry(self) -> None:
        pass


class SilentKTOTrainer(KTOTrainer):
    """Kahneman-Tversky optimisation (arXiv:2402.01306)."""

    def _send_telemetry(self) -> None:
        pass


class SilentRewardTrainer(RewardTrainer):
    """Reward models from pairs, by Bradley and Terry."""

    def _send_telemetry(self) -> None:
        pass
