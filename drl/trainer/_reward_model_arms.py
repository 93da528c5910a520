"""Which heads a run learns: its own method, others beside it, sweeps, and shuffled controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from drl.errors import ConfigError
from drl.turn_reward.settings import HeadSettings, LocalLoss, ObjectiveSettings, SessionLoss

if TYPE_CHECKING:
    from drl.evaluation.turn_rewards_controls import Shuffled

_METHODS: Mapping[str, tuple[SessionLoss, LocalLoss]] = {
    "sum": ("sum", "none"),
    "uniform": ("uniform", "none"),
    "ircr": ("ircr", "none"),
    "rudder": ("rudder", "none"),
    "rrd": ("rrd", "none"),
    "li": ("none", "labels"),
    "geli": ("rrd", "labels"),
}


@dataclass(frozen=True, kw_only=True)
class Arm:
    """Heads that differ by their seed alone."""

    name: str
    kind: Literal["method", "control"]
    objective: ObjectiveSettings
    learning_rate: float
    shuffled: Shuffled | None = None

    def head(self, settings: HeadSettings) -> HeadSettings:
        """RUDDER guesses with an LSTM of its own; all others have the head of the run."""
        if self.objective.session != "rudder":
            return settings
        return replace(settings, kind="lstm", tanh=False, scalar_dropout=0.0)


@dataclass(frozen=True, kw_only=True)
class ArmSettings:
    """Heads beside those that the run is about.

    `beside`: further methods with the run's settings, by name. `session_weights` and
    `learning_rates`: the run's method again with each of them. `controls`: the run's method again
    on shuffled scores, reactions or both, which must find nothing.
    """

    beside: list[str]
    session_weights: list[float]
    learning_rates: list[float]
    controls: bool

    def __post_init__(self) -> None:
        """Refuse unknown methods."""
        for name in self.beside:
            if name not in _METHODS:
                raise ConfigError(f"beside={name} is unknown; use some of {', '.join(_METHODS)}")

    def arms(self, objective: ObjectiveSettings, learning_rate: float) -> list[Arm]:
        """All arms; the first is what the run is about.

        Raises:
            ConfigError: a weight does not fit the objective.
        """
        main = Arm(
            name=method_name(objective),
            kind="method",
            objective=objective,
            learning_rate=learning_rate,
        )
        found = [main]
        for weight in self.session_weights:
            found.append(_weighted(main, weight))
        for rate in self.learning_rates:
            name = f"{main.name} learning_rate={rate:g}"
            found.append(replace(main, name=name, learning_rate=rate))
        for name in self.beside:
            found.append(replace(main, name=name, objective=_method(name, objective)))
        if self.controls:
            found += _controls(main)
        by_name: dict[str, Arm] = {}
        for arm in found:
            by_name.setdefault(arm.name, arm)
        return list(by_name.values())


def method_name(objective: ObjectiveSettings) -> str:
    """What an objective is called in tables."""
    if objective.local == "none":
        return objective.session
    if objective.local == "targets":
        return "distil" if objective.session == "none" else f"distil_{objective.session}"
    if objective.session == "none":
        return "li"
    return "geli" if objective.session == "rrd" else f"geli_{objective.session}"


def _weighted(main: Arm, weight: float) -> Arm:
    """The method with another weight of the scores."""
    try:
        objective = replace(main.objective, session_weight=weight)
    except ConfigError as error:
        raise ConfigError(f"trainer.arms.session_weights={weight:g}: {error}") from error
    return replace(main, name=f"{main.name} session_weight={weight:g}", objective=objective)


def _method(name: str, objective: ObjectiveSettings) -> ObjectiveSettings:
    """Another method with the settings of this one, as far as it has them."""
    session, local = _METHODS[name]
    weight = objective.session_weight
    if name == "geli" and not 0.0 < weight < 1.0:
        weight = 0.5  # as in GELI
    found = replace(objective, session=session, local=local, session_weight=weight)
    if name == "ircr":  # turns earn what the whole session did, from the worst to the best seen
        found = replace(found, normalise="minmax", total="mean", length=None)
    return found


def _controls(main: Arm) -> Sequence[Arm]:
    """The method where what it learns from was shuffled; and RRD, which faces must not beat."""
    reads_scores = main.objective.session != "none"
    reads_turns = main.objective.local != "none"
    kinds: list[Shuffled] = ["shuffled_scores"] if reads_scores and not reads_turns else []
    if reads_turns:
        kinds.append("shuffled_faces")
    if reads_scores and reads_turns:
        kinds.append("shuffled_both")
    found = [
        replace(main, name=f"{main.name} {kind}", kind="control", shuffled=kind) for kind in kinds
    ]
    if reads_scores and reads_turns:
        found.append(replace(main, name="rrd", objective=_method("rrd", main.objective)))
    return found
