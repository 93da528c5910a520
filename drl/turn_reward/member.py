"""A member: one head among many that learn side by side, with what is its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drl.turn_reward.ragged import Corpus, Truth
from drl.turn_reward.scaling import ScoreScaling, score_scaling
from drl.turn_reward.settings import HeadSettings, ObjectiveSettings


@dataclass(frozen=True, kw_only=True, eq=False)
class Member:
    """One head to be learned; members of one name differ by their seed alone."""

    name: str
    objective: ObjectiveSettings
    seed: int
    learning_rate: float
    truth: Truth

    def scaling(self, corpus: Corpus, score_range: tuple[float, float]) -> ScoreScaling:
        """Of its scores, by the training part.

        Raises:
            DataError: nothing can be learned from them.
        """
        scores = self.truth.scores_B[corpus.train]
        return score_scaling(self.objective, scores[~np.isnan(scores)].tolist(), score_range)

    def unit(self, corpus: Corpus, head: HeadSettings, scaling: ScoreScaling) -> float:
        """What an output of 1 is as a reward while it learns.

        Where many rewards add up to a score of about 1 they are small; with outputs about 1 the
        same learning rates serve sums and means. It is folded into the weights at the end, so a
        head bounded by tanh, and labels that are fitted as they are, have 1.
        """
        takes_labels = self.objective.local != "none" and not self.objective.is_affine
        if head.tanh or takes_labels or self.objective.session == "none":
            return 1.0
        sizes = [scaling.size(int(corpus.lengths_B[number])) for number in corpus.train]
        return 1.0 / float(np.mean(sizes))

    def first_reward(self, corpus: Corpus, head: HeadSettings, scaling: ScoreScaling) -> float:
        """What the head gives every turn before it has learned anything, apart from chance.

        The mean share of a scaled score where `objective.starts_at_mean`, else 0; also where the
        head is bounded by tanh or gives differences, of which no bias sets the level.
        """
        if not self.objective.starts_at_mean or head.tanh or head.kind == "lstm":
            return 0.0
        train = np.array(corpus.train)
        shares = (self.truth.scores_B[train] - scaling.centre) / scaling.scale
        shares /= [scaling.size(int(length)) for length in corpus.lengths_B[train]]
        return float(np.nanmean(shares))

    def local(self, corpus: Corpus) -> np.ndarray:
        """What its local loss holds rewards against, float [N]; NaN where nothing is known.

        Behind an affine link it has mean 0 and deviation 1 over the training part: the link finds
        the scale anyway, and so does the weight of the loss not depend on it.

        Raises:
            DataError: no training turn has a label, though the objective reads them.
        """
        if self.objective.local == "targets":
            return self.truth.targets_N
        labels_N = self.truth.labels_N
        if not self.objective.is_affine:
            return labels_N
        seen = labels_N[corpus.places(corpus.train)]
        seen = seen[~np.isnan(seen)]
        if not len(seen):
            return labels_N
        return (labels_N - seen.mean()) / (seen.std() or 1.0)
