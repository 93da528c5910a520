"""Targets that a language model gives (LLM-GELI), and how well they amount to the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from drl.dataset.base import SessionDataset
from drl.labelling.settings import LabelSettings
from drl.trainer._llm_turn_rewards import label_run
from drl.trainer.base import Parts
from drl.turn_reward.scaling import score_scaling
from drl.turn_reward.session import Session
from drl.turn_reward.settings import ObjectiveSettings
from drl.types import JSON


def targets(
    sessions: Sequence[Session],
    parts: Parts,
    folder: Path,
    labelling: LabelSettings,
    objective: ObjectiveSettings,
    dataset: SessionDataset,
) -> tuple[Mapping[str, np.ndarray], dict[str, JSON]]:
    """Targets float [T] by session, and counts for the summary; the test part is not asked about.

    Args:
        sessions: of all splits.
        parts: of the run.
        folder: of the run.
        labelling: how the model is asked.
        objective: how scores are scaled.
        dataset: what listeners were asked.

    Raises:
        RunError: the budget is spent, or the model stays away; what is marked is kept.
    """
    train = [session for session in sessions if session.split == "train"]
    scores = [session.score for session in train if session.score is not None]
    scaling = score_scaling(objective, scores, dataset.score_range)
    labels = label_run(
        [session for session in sessions if session.split != "test"],
        parts,
        folder,
        labelling,
        target=dataset.target,
        score_range=dataset.score_range,
        scaling=scaling,
    )
    errors = [
        (scaling.points(labels.rewards[session.id]) - session.score) ** 2
        for session in train
        if session.score is not None and session.id in labels.rewards
    ]
    told: dict[str, JSON] = {
        **labels.counts,
        # they were marked with the score in sight, so this is no figure of a prediction
        "label_sum_mse_train": float(np.mean(errors)) if errors else None,
    }
    return labels.rewards, {"labelling": told}
