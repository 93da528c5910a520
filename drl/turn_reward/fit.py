"""Many heads learn at once on embeddings that are there already.

Members share the inputs and the order of the batches, which the seed of the call gives. All else,
the first weights, drawn turns, dropout, learning rate, loss, best epoch, is a member's own, so a
member comes out as if it had learned alone, up to the rounding of sums.

Axes: M members, G members of one group, B sessions, N turns of all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from drl.runtime.seeds import derive
from drl.turn_reward import head as heads
from drl.turn_reward.adamw import MemberAdamW
from drl.turn_reward.groups import group_members
from drl.turn_reward.head import Params
from drl.turn_reward.member import Member
from drl.turn_reward.objectives import Link, Losses, losses
from drl.turn_reward.ragged import Corpus, Ragged
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.settings import HeadSettings, TrainingSettings
from drl.turn_reward.subsets import draw_turns

_LOG = logging.getLogger(__name__)


class Epoch(NamedTuple):
    """The losses of an epoch, float [M] each; validation is NaN where there are no sessions."""

    number: int
    train_M: Tensor
    val_M: Tensor
    val_session_M: Tensor
    val_local_M: Tensor


@dataclass(frozen=True, eq=False)
class Fitted:
    """Heads at their best epochs.

    `params` [M, ...] read raw inputs. `best_epoch` counts from 1; 0 stands for the first weights,
    which a member keeps that was never better, or that diverged.
    """

    params: Params
    scalings: tuple[ScoreScaling, ...]
    best_epoch: tuple[int, ...]
    best_val: tuple[float, ...]


def fit(
    corpus: Corpus,
    members: Sequence[Member],
    *,
    head: HeadSettings,
    training: TrainingSettings,
    score_range: tuple[float, float],
    seed: int,
    start: Params | None = None,
    tell: Callable[[Epoch], None] = lambda epoch: None,
) -> Fitted:
    """Heads of all members.

    Args:
        corpus: what there is to learn from.
        members: who learns.
        head: of all of them.
        training: the optimisation.
        score_range: the lowest and highest answer that the question allows, in points.
        seed: of the order of batches.
        start: weights of one head for raw inputs, with which all begin; they are kept where no
            epoch is better. None: each begins with its own.
        tell: hears of every epoch when it is over.

    Raises:
        DataError: an objective reads what no training session has.
    """
    run = _Run(corpus, members, head, training, score_range)
    if start is not None:
        run.start_from(start)
    best = _Best(run, training)
    if start is not None:
        best.look(0, torch.full_like(run.unit_M, torch.inf), run.validate())
    for number in range(1, training.epochs + 1):
        train_M = run.learn(number, seed)
        val = run.validate()
        tell(Epoch(number, train_M, *(_joint_and_parts(run, val))))
        best.look(number, train_M, val)
        if best.is_over:
            break
    return best.fitted(members)


class _Run:
    """Weights of all members on their way."""

    def __init__(
        self,
        corpus: Corpus,
        members: Sequence[Member],
        head: HeadSettings,
        training: TrainingSettings,
        score_range: tuple[float, float],
    ) -> None:
        self.corpus, self.head, self.training = corpus, head, training
        self.scalings = tuple(member.scaling(corpus, score_range) for member in members)
        self.groups = list(group_members(corpus, members, self.scalings))
        self.weight_M = self._tensor([member.objective.weight for member in members])
        scaled = list(zip(members, self.scalings, strict=True))
        self.unit_M = self._tensor(
            [member.unit(corpus, head, scaling) for member, scaling in scaled]
        )
        first_M = self._tensor(
            [member.first_reward(corpus, head, scaling) for member, scaling in scaled]
        )
        self.mean_D, self.deviation_D = self._moments()
        self._draws = _generators(members, "draws")
        self._noise = _generators(members, "dropout")
        fresh = heads.init(head, corpus.input_size, len(members), _generators(members, "weights"))
        fresh = heads.raised(head, fresh, first_M / self.unit_M)
        self.params = {k: v.to(corpus.device, corpus.dtype) for k, v in fresh.items()}
        self._link = {name: torch.zeros_like(self.unit_M) for name in ("shift", "log_slope")}
        self._learning = {**self.params, **self._link}
        for weight in self._learning.values():
            weight.requires_grad_(True)
        rate_M = self._tensor([member.learning_rate for member in members])
        self._optimizer = MemberAdamW(self._learning, rate_M, training.weight_decay)
        self._num_updates = 0

    @torch.no_grad()
    def start_from(self, raw: Params) -> None:
        """Let all members begin with the weights of one head that reads raw inputs."""
        many = {name: torch.stack([weight] * len(self.unit_M)) for name, weight in raw.items()}
        many = {name: weight.to(self.unit_M) for name, weight in many.items()}
        begun = heads.unfold(self.head, many, self.mean_D, self.deviation_D, self.unit_M)
        for name, weight in self.params.items():
            weight.copy_(begun[name])

    def learn(self, epoch: int, seed: int) -> Tensor:
        """One pass over the training part; the mean loss of its batches, float [M]."""
        batches = list(self._batches(epoch, seed))
        total_M = torch.zeros_like(self.unit_M)
        for sessions in batches:
            found = self._losses(sessions, is_learning=True)
            joint_M = found.joint(self.weight_M)
            gradients = torch.autograd.grad(
                joint_M.sum(), list(self._learning.values()), allow_unused=True
            )
            by_name = {
                name: torch.zeros_like(self._learning[name]) if got is None else got
                for name, got in zip(self._learning, gradients, strict=True)
            }
            self._optimizer.step(by_name, self._share(len(batches)))
            self._num_updates += 1
            total_M += joint_M.detach()
        return total_M / len(batches)

    @torch.no_grad()
    def validate(self) -> Losses | None:
        """Losses on the validation part; None where it has no sessions."""
        found: Losses | None = None
        for sessions in self.corpus.in_parts(self.corpus.val):
            more = self._losses(sessions, is_learning=False)
            found = more if found is None else found.plus(more)
        return found

    def _losses(self, sessions: Sequence[int], *, is_learning: bool) -> Losses:
        batch = self.corpus.batch(sessions)
        inputs_ND = (batch.inputs_ND - self.mean_D) / self.deviation_D
        ragged = Ragged(inputs_ND, batch.layout)
        is_noisy = is_learning or self.training.noisy_validation
        outputs_MN = heads.apply_members(
            self.head, self.params, ragged, self._noise if is_noisy else None
        )
        rewards_MN = outputs_MN * self.unit_M[:, None]
        parts = [torch.zeros_like(self.unit_M) for _ in Losses._fields]
        for group in self.groups:
            drawn_GN = None
            if is_learning and group.settings.is_drawing:
                generators = [self._draws[number] for number in group.numbers]
                drawn_GN = draw_turns(
                    batch.layout, group.settings.draws, generators, replaced=group.settings.replaced
                ).to(rewards_MN.dtype)
            link = Link(*(each[group.numbers] for each in (*self._link.values(), self.unit_M)))
            known = group.known(self.corpus, sessions)
            found = losses(
                group.settings, rewards_MN[group.numbers], batch.layout, known, link, drawn_GN
            )
            at = torch.tensor(group.numbers, device=rewards_MN.device)
            parts = [part.index_copy(0, at, got) for part, got in zip(parts, found, strict=True)]
        return Losses(*parts)

    def _batches(self, epoch: int, seed: int) -> Iterator[list[int]]:
        order = np.array(self.corpus.train)
        if self.training.shuffle:
            np.random.default_rng(derive(seed, "order", epoch)).shuffle(order)
        for start in range(0, len(order), self.training.batch_size):
            yield order[start : start + self.training.batch_size].tolist()

    def _share(self, num_batches: int) -> float:
        if self.training.schedule == "constant":
            return 1.0
        return 1.0 - self._num_updates / (self.training.epochs * num_batches)

    def _moments(self) -> tuple[Tensor, Tensor]:
        if self.head.standardise:
            return self.corpus.input_moments()
        zeros = self._tensor([0.0] * self.corpus.input_size)
        return zeros, torch.ones_like(zeros)

    def _tensor(self, values: Sequence[float]) -> Tensor:
        return torch.tensor(values, device=self.corpus.device, dtype=self.corpus.dtype)


class _Best:
    """The weights of each member at its own best epoch, and who still hopes for a better one."""

    def __init__(self, run: _Run, training: TrainingSettings) -> None:
        self._run, self._training = run, training
        self._params = {name: weight.detach().clone() for name, weight in run.params.items()}
        self._epoch_M = torch.zeros(len(run.unit_M), dtype=torch.long)
        self._val_M = torch.full((len(run.unit_M),), inf, dtype=torch.float64)
        self._is_going_M = torch.ones(len(run.unit_M), dtype=torch.bool)

    @property
    def is_over(self) -> bool:
        """Whether every member ran out of patience."""
        return not self._is_going_M.any()

    def look(self, number: int, train_M: Tensor, val: Losses | None) -> None:
        """Keep the weights of members that are better now than ever."""
        if val is None:  # nothing to choose by: the last epoch it is
            found_M = train_M.double().cpu()
            is_better_M = found_M.isfinite()
        else:
            found_M = _criterion(self._run, val, self._training).double().cpu()
            is_better_M = self._is_going_M & (found_M < self._val_M)
        for name, weight in self._run.params.items():
            better = is_better_M.to(weight.device).view(-1, *(1,) * (weight.dim() - 1))
            self._params[name] = torch.where(better, weight.detach(), self._params[name])
        self._val_M = torch.where(is_better_M, found_M, self._val_M)
        self._epoch_M[is_better_M] = number
        if val is not None and self._training.patience is not None:
            self._is_going_M &= number - self._epoch_M < self._training.patience

    def fitted(self, members: Sequence[Member]) -> Fitted:
        """What came of it, on the CPU."""
        epochs = self._epoch_M.tolist()
        found = zip(members, self._val_M.tolist(), strict=True)
        lost = [f"{member.name} (seed {member.seed})" for member, val in found if val == inf]
        if lost:
            _LOG.warning(
                "%d heads diverged and keep their first weights: %s; lower "
                "trainer.training.learning_rate",
                len(lost),
                ", ".join(lost[:5]),
            )
        run = self._run
        folded = heads.fold(run.head, self._params, run.mean_D, run.deviation_D, run.unit_M)
        params = {name: weight.cpu() for name, weight in folded.items()}
        return Fitted(params, run.scalings, tuple(epochs), tuple(self._val_M.tolist()))


def _generators(members: Sequence[Member], purpose: str) -> list[Generator]:
    return [Generator().manual_seed(derive(member.seed, purpose)) for member in members]


def _criterion(run: _Run, val: Losses, training: TrainingSettings) -> Tensor:
    """What an epoch is chosen by, float [M]."""
    joint_M = val.joint(run.weight_M)
    if training.select_by == "joint":
        return joint_M
    return torch.where(run.weight_M > 0, val.session, joint_M)


def _joint_and_parts(run: _Run, val: Losses | None) -> tuple[Tensor, Tensor, Tensor]:
    if val is None:
        nothing = torch.full_like(run.unit_M, torch.nan)
        return nothing, nothing, nothing
    return val.joint(run.weight_M), val.session, val.local
