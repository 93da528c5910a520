"""How a turn reward is learned: its head, its objective, and the optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drl.errors import ConfigError
from drl.runtime.settings import check_above_zero, check_not_negative, check_positive

SessionLoss = Literal["none", "sum", "uniform", "ircr", "rudder", "rrd"]
LocalLoss = Literal["none", "labels", "targets"]
Schedule = Literal["constant", "linear"]
Normalise = Literal["none", "zscore", "divide_by_scale", "minmax"]


@dataclass(frozen=True, kw_only=True)
class HeadSettings:
    """From the embedding of a turn to its reward.

    `linear`: one weight an axis. `mlp`: `hidden` rectified units, then one output. `lstm`: RUDDER's
    cell with `cells` units, whose guesses of the score differ from turn to turn by the reward.
    `dropout` is of the hidden units, `scalar_dropout` of the finished reward. `tanh` bounds rewards
    to (-1, 1). With `standardise` inputs have mean 0 and variance 1 over the training part while
    the head learns; what is kept reads embeddings as they are.
    """

    kind: Literal["linear", "mlp", "lstm"]
    hidden: int
    cells: int
    dropout: float
    scalar_dropout: float
    tanh: bool
    standardise: bool

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(None, hidden=self.hidden, cells=self.cells)
        for name, value in (("dropout", self.dropout), ("scalar_dropout", self.scalar_dropout)):
            if not 0.0 <= value < 1.0:
                raise ConfigError(f"{name}={value} must lie in [0, 1); 0 leaves it out")
        if self.tanh and self.kind == "lstm":
            raise ConfigError(
                "tanh=true bounds rewards, but kind=lstm takes differences of guesses, which have "
                "no bound; set tanh=false"
            )


@dataclass(frozen=True, kw_only=True)
class ObjectiveSettings:
    """What is minimised: session_weight * session loss + (1 - session_weight) * local loss.

    Where one of the two is none, the other counts alone.

    Session losses hold rewards against the session score R. `sum`: (R - total)^2. `rrd`: the same
    from `draws` turns of a session. `uniform`: every turn against an equal share of R. `ircr`: the
    same on `draws` turns; see `starts_at_mean`. `rudder`: every beginning of a session against R.

    `total`: rewards add up to the score (sum), or it is their mean. Sums carry an error with the
    length of a session. `length`: how many turns every session is taken to have in a total; null:
    as many as it has. `normalise`: the score as it is times `unit`, or centred and scaled by the
    training part, or over the upper end of its scale, or from 0 (lowest in training) to 1.

    `replaced`: a turn may be drawn twice. `unbiased`: take away what the spread of a draw adds.
    `rudder_squared_mean`: RUDDER's second term as GELI's released code has it.

    Local losses are mean squared errors against labels of the listener's reaction, or against
    given targets; turns without one do not count. `link`: identity takes rewards for labels;
    affine fits labels as a + b * reward with b > 0, so that scores alone say how large rewards
    are and labels only which turns are good. `local_drawn`: only turns that were drawn count.
    """

    session: SessionLoss
    local: LocalLoss
    session_weight: float
    total: Literal["sum", "mean"]
    length: int | None
    normalise: Normalise
    unit: float
    draws: int
    replaced: bool
    unbiased: bool
    rudder_squared_mean: bool
    link: Literal["identity", "affine"]
    local_drawn: bool

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        check_positive(None, draws=self.draws)
        check_above_zero(None, unit=self.unit, length=self.length)
        if self.session == "none" and self.local == "none":
            raise ConfigError("session=none and local=none leave nothing to learn; choose one")
        if not 0.0 <= self.session_weight <= 1.0:
            raise ConfigError(
                f"session_weight={self.session_weight} must lie in [0, 1]; it is the part of the "
                "session loss in the objective"
            )
        if self.is_affine and self.session_weight == 0.0:
            raise ConfigError(
                "link=affine lets scores say how large rewards are, but session_weight=0 lets "
                "them say nothing; use link=identity"
            )
        if self.unbiased and self.draws < 2:
            raise ConfigError(
                f"unbiased=true needs the spread of a draw, but draws={self.draws}; draw 2 or more"
            )
        if self.length is not None and self.total == "mean":
            raise ConfigError(
                f"length={self.length} is of a sum, but total=mean; set total=sum or length=null"
            )

    @property
    def weight(self) -> float:
        """Of the session loss."""
        if self.session == "none":
            return 0.0
        return 1.0 if self.local == "none" else self.session_weight

    @property
    def is_affine(self) -> bool:
        """Whether labels are fitted by way of a link of their own."""
        return self.link == "affine" and self.session != "none" and self.local != "none"

    @property
    def starts_at_mean(self) -> bool:
        """Whether heads begin at the mean of what turns are held against, and not at 0.

        IRCR's targets lie between 0 and 1, far from 0, and the first epochs would go into finding
        where. Centred scores have their mean at 0; on the other scales heads begin as in GELI's
        released code. A choice of ours, of which no paper says anything.
        """
        return self.session == "ircr" and self.normalise == "minmax"

    @property
    def is_drawing(self) -> bool:
        """Whether an update looks at some turns only."""
        return self.session in ("rrd", "ircr") or (self.local != "none" and self.local_drawn)


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """One optimisation of heads, by AdamW.

    `batch_size` counts sessions. With no `epochs` heads stay what they begin with. `patience`:
    epochs without a better validation loss after which a member stops; null: none. `select_by`: the
    epoch that is kept is the best in the whole objective (joint) or in its session loss alone.
    `noisy_validation` leaves dropout on there, as GELI's released code does.
    """

    epochs: int
    batch_size: int
    shuffle: bool
    learning_rate: float
    schedule: Schedule
    weight_decay: float
    patience: int | None
    select_by: Literal["joint", "session"]
    noisy_validation: bool

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(None, batch_size=self.batch_size)
        check_above_zero(None, learning_rate=self.learning_rate, patience=self.patience)
        check_not_negative(None, epochs=self.epochs, weight_decay=self.weight_decay)


@dataclass(frozen=True, kw_only=True)
class TuneSettings:
    """Training of the encoder itself, with one head, on labels of single turns.

    `batch_size` counts turns. `schedule` is of the head. The encoder's own dropout stays off, as in
    GELI's released code.
    """

    epochs: int
    batch_size: int
    shuffle: bool
    learning_rate: float
    schedule: Schedule
    encoder_schedule: Schedule
    weight_decay: float

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(None, epochs=self.epochs, batch_size=self.batch_size)
        check_above_zero(None, learning_rate=self.learning_rate)
        check_not_negative(None, weight_decay=self.weight_decay)
