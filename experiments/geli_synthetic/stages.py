"""The stages of the study, and what each needs of those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from drl.dataset.base import SessionDataset
from drl.domains.candor.synthetic.settings import Settings, Signal
from drl.domains.candor.synthetic.write import generate
from drl.launch import register_resolvers
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from experiments.runs import ROOT, Runs

READING: Final = (
    "trainer.text_format.max_turns=2",
    "trainer.text_format.kept_turns=2",
    "trainer.encoder.pooling=mean_parts",
)
"""How turns are read in all runs but one: what was said just before, and the reply, side by side.

The hidden rewards rest on nothing else. Who studies real conversations does not know such a thing;
`reading` shows what it is worth, and it makes the study cheap.
"""
CUT: Final = (Signal.NO_SCORES, Signal.NO_FACES, Signal.NO_TEXT, Signal.NONE)
DRAWS: Final = (1, 2, 4, 64)
"""Turns K of RRD beside the usual 8; 64 are all that a session has."""


@dataclass(frozen=True)
class Size:
    """How large the study is. `train_sizes`: conversations to learn from."""

    folder: str
    conversations: int
    cut_conversations: int
    train_sizes: tuple[int, ...]
    session_weights: tuple[float, ...]
    seeds: int
    epochs: int
    tune_epochs: int


WHOLE: Final = Size(
    folder="outputs/geli_synthetic",
    conversations=200,
    cut_conversations=150,  # 30 held out
    train_sizes=(25, 50, 100),
    session_weights=(0.02, 0.1, 0.25, 0.75, 0.9, 0.98),
    seeds=5,
    epochs=60,
    tune_epochs=3,
)
SMALL: Final = Size(
    folder="outputs/geli_synthetic_small",
    conversations=40,
    cut_conversations=20,
    train_sizes=(10, 20),
    session_weights=(0.1, 0.9),
    seeds=2,
    epochs=20,
    tune_epochs=1,
)


class Study:
    """The stages, in order; each knows the run that it needs."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.runs = Runs(size.folder)

    def main(self) -> Path:
        """All methods, GELI with several weights, and GELI on shuffled scores and faces."""
        weights = ",".join(f"{weight:g}" for weight in self.size.session_weights)
        return self._learn(
            "main",
            *("trainer=reward_model/geli", "trainer.arms.controls=true", *READING),
            "trainer.arms.beside=[uniform,ircr,rudder,sum,rrd,li]",
            f"trainer.arms.session_weights=[{weights}]",
        )

    def draws(self, number: int, *, unbiased: bool = False) -> Path:
        """RRD with so many turns of a session in one update."""
        return self._learn(
            f"rrd_{number}{'_unbiased' if unbiased else ''}",
            *("trainer=reward_model/rrd", "trainer.arms.controls=false", *READING),
            *(f"trainer.objective.draws={number}", f"trainer.objective.unbiased={unbiased}"),
        )

    def alone(self, method: str) -> Path:
        """RRD or LI, and the same on shuffled scores or faces."""
        return self._learn(
            f"{method}_alone",
            *(f"trainer=reward_model/{method}", "trainer.arms.controls=true", *READING),
        )

    def reading(self) -> Path:
        """RRD, LI and GELI where turns are read as `+experiment=candor_geli` does."""
        return self._learn("reading", *_three())

    def tuned(self) -> Path:
        """An encoder that faces trained, with the head that learned with it."""
        return self._learn(
            "tuned",
            *("trainer=reward_model/li/finetuned", "trainer.arms.controls=false", *READING),
            f"trainer.tune.epochs={self.size.tune_epochs}",
        )

    def on_tuned(self, *, starts: bool) -> Path:
        """RRD and GELI on that encoder, with heads of their own or from its head on."""
        self.tuned()
        run = self.runs.place("tuned")
        start = [f"trainer.start={run}"] if starts else []
        return self._learn(
            f"on_tuned{'_started' if starts else ''}",
            *(*_three(), *READING, f"trainer.encoder.model={run}", *start),
        )

    def of_size(self, number: int) -> Path:
        """RRD, LI and GELI that learn from so many conversations, and are tested as all others."""
        where = self._parts(number)
        return self._learn(
            f"size_{number}",
            *(*_three(), *READING, "dataset.division.by=file", f"dataset.division.file={where}"),
        )

    def cut(self, signal: Signal) -> Path:
        """RRD, LI and GELI where the hidden rewards leave no trace somewhere, or nowhere any."""
        return self._learn(signal.value, *_three(), *READING, data=self._set(signal))

    def _parts(self, number: int) -> str:
        """A table in which only so many conversations are left to learn from."""
        file = f"{self.size.folder}/parts/{number}.csv"
        kept = fewer(parts_of(self._set(Signal.ALL)), number)
        rows = [f"{name},{part}\n" for name, part in sorted(kept.items())]
        (ROOT / file).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / file).write_text("conversation_id,split\n" + "".join(rows))
        return file

    def _set(self, signal: Signal) -> str:
        """Generated conversations; made at the first time."""
        is_whole = signal is Signal.ALL
        number = self.size.conversations if is_whole else self.size.cut_conversations
        folder = f"{self.size.folder}/sets/{signal}"
        generate(Settings(conversations=number, signal=signal), ROOT / folder)
        return folder

    def _learn(self, stage: str, *overrides: str, data: str | None = None) -> Path:
        root = data or self._set(Signal.ALL)
        return self.runs.run(
            stage,
            *("name=geli_synthetic", "dataset=candor", f"dataset.root={root}"),
            *overrides,
            *(f"trainer.seeds={self.size.seeds}", f"trainer.training.epochs={self.size.epochs}"),
        )


def parts_of(root: str) -> dict[str, str]:
    """In which part each conversation of a set is where nothing is changed."""
    register_resolvers()
    node = to_plain(compose(ROOT / "conf", ["dataset=candor", f"dataset.root={root}"]))["dataset"]
    dataset = build("dataset", cast(dict, node))
    assert isinstance(dataset, SessionDataset)
    return {session.conversation_id: session.split for session in dataset.sessions()}


def fewer(parts: Mapping[str, str], number: int) -> dict[str, str]:
    """The same parts with so many conversations in training, the first ones by their ids.

    Raises:
        ValueError: there are not so many.
    """
    training = sorted(name for name, part in parts.items() if part == "train")
    if number > len(training):
        raise ValueError(f"{number} of {len(training)} training conversations cannot be taken")
    left_out = training[number:]
    return {name: part for name, part in parts.items() if name not in left_out}


def _three() -> Sequence[str]:
    return (
        *("trainer=reward_model/geli", "trainer.arms.beside=[rrd,li]"),
        "trainer.arms.controls=false",
    )
