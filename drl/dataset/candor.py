"""CANDOR: video calls of strangers who said afterwards how they liked it (Reece et al. 2023).

1,656 conversations, given on request by their owners; `root` is the folder that holds one folder
for each. Without a root, generated conversations in the same layout stand for them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from drl.dataset import _candor_reading as reading
from drl.dataset._candor_contexts import ContextSettings, contexts
from drl.dataset._candor_sessions import ViewSettings
from drl.dataset._choice import TaskChoice, take_named
from drl.dataset.base import SessionDataset
from drl.domains.candor.alignment import LabelSettings
from drl.domains.candor.clocks import ClockSettings
from drl.domains.candor.files import ReadSettings, generated_by
from drl.domains.candor.filters import FilterSettings
from drl.domains.candor.split import (
    HELD_OUT_SHARE,
    PARTS,
    SHARES_PEOPLE,
    Division,
    DivisionSettings,
    divide,
    write_parts,
)
from drl.domains.candor.survey import SCALES
from drl.domains.candor.transcript import FLAVOURS
from drl.errors import ConfigError
from drl.runtime.settings import check_above_zero
from drl.turn_reward.session import Session
from drl.types import JSON, Task

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class CandorDataset(TaskChoice, SessionDataset):
    """Sessions of all splits, and tasks from those of one split."""

    root: str | None
    data_dir: str
    target: str
    scale: list[float] | None
    transcript: str
    same_speaker: Literal["merge", "keep", "alternate"]
    max_minutes: float
    clocks: ClockSettings
    views: Literal["both", "first", "released"]
    faces: Literal["listener", "first_speaker"]
    labels: LabelSettings
    filters: FilterSettings
    division: DivisionSettings
    contexts: ContextSettings
    split: str

    def __post_init__(self) -> None:
        """Check the settings as far as they need no data."""
        if self.transcript not in FLAVOURS:
            raise ConfigError(
                f"dataset.transcript={self.transcript} is unknown; use one of {', '.join(FLAVOURS)}"
            )
        _check_scale(self.target, self.scale)
        check_above_zero("dataset", max_minutes=self.max_minutes)
        if self.split not in PARTS:
            raise ConfigError(
                f"dataset.split={self.split} is unknown; use one of {', '.join(PARTS)}"
            )
        self.check_choice()

    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest answer to the target."""
        lowest, highest = self.scale or SCALES[self.target]
        return float(lowest), float(highest)

    @property
    def folder(self) -> Path:
        """The root; generated the first time where there is none.

        Raises:
            DataError: the data cannot be generated.
        """
        return self._folder

    @property
    def is_synthetic(self) -> bool:
        """Whether the generator wrote the data, be it for this run or before."""
        return generated_by(self.folder) is not None

    @property
    def version(self) -> str:
        """The kind of the data, and a digest of it and of what cuts it into turns.

        Raises:
            DataError: there is no conversation.
        """
        return self._version

    def sessions(self) -> Sequence[Session]:
        """All usable sessions, ordered by conversation.

        Those of conversations that are in no part are left out; `report` counts them. Who is in
        which part, and why others are in none, is stored below `data_dir` in candor/parts.

        Raises:
            DataError: there is no conversation, or none can be used.
            ConfigError: no conversation is left in any part.
        """
        loaded, division = self._loaded, self._division
        return [
            replace(session, split=division.parts[session.conversation_id])
            for session in loaded.sessions
            if session.conversation_id in division.parts
        ]

    def report(self) -> Mapping[str, JSON]:
        """Counts of conversations, sessions, labels and faults; of the parts, with those dropped.

        Raises:
            DataError, ConfigError: as `sessions`.
        """
        sessions, division = self.sessions(), self._division
        return {
            "synthetic": self.is_synthetic,
            "target": self.target,
            **self._loaded.counts(),
            "parts": dict(Counter(division.parts.values())),
            "in_no_part": dict(Counter(division.left_out.values())),
            "sessions_of_parts": dict(Counter(session.split for session in sessions)),
            "labels": _label_counts(sessions),
        }

    def load(self) -> Sequence[Task]:
        """Places in the sessions of the split where the agent speaks next.

        Of those that `contexts` draws, first `ids` are taken, in the order that `shuffle` draws; of
        those `limit` from number `start` on; of those the shard.

        Raises:
            DataError: there is no conversation, or none can be used.
            ConfigError: an id is not among them, or no task is left.
        """
        tasks = {
            task.id: task
            for session in self.sessions()
            if session.split == self.split
            for task in contexts(session, self.contexts)
        }
        if not tasks:
            counts = Counter(self._division.parts.values())
            raise ConfigError(
                f"dataset.split={self.split} has no task; of {counts['train']} conversations for "
                f"train, {counts['val']} for val and {counts['test']} for test none has a turn that"
                " dataset.contexts allows; change dataset.division.test_share, .val_share or "
                ".positions, or dataset.contexts"
            )
        chosen = take_named(list(tasks), self.ids, lambda missing: _unknown(list(tasks), missing))
        shard = self.take_shard(chosen)
        return [tasks[name] for name in shard]

    @cached_property
    def _folder(self) -> Path:
        if self.root is not None:
            return Path(self.root)
        from drl.domains.candor.synthetic.write import ensure

        return ensure(Path(self.data_dir))

    @cached_property
    def _version(self) -> str:
        cut = (self.transcript, self.same_speaker, self.max_minutes)
        kind = "candor_synthetic" if self.is_synthetic else "candor"
        return f"{kind}-{reading.digest(self.folder, self.transcript, cut)}"

    @property
    def _loaded(self) -> reading.Loaded:
        read = ReadSettings(
            target=self.target,
            flavour=self.transcript,
            same_speaker=self.same_speaker,
            max_s=self.max_minutes * 60,
            clocks=self.clocks,
        )
        view = ViewSettings(
            views=self.views,
            faces=self.faces,
            labels=self.labels,
            filters=self.filters,
            scale=self.score_range,
        )
        cache = Path(self.data_dir) / "cache" / "candor"
        return reading.load(self.folder, self.version, read, view, cache)

    @cached_property
    def _division(self) -> Division:
        loaded = self._loaded
        held_out = (generated_by(self.folder) or {}).get("held_out_share")
        share = held_out if isinstance(held_out, float) else HELD_OUT_SHARE
        division = divide(loaded.people, self.division, share)
        if not division.parts:
            raise ConfigError(
                f"dataset.division={self.division} leaves none of {len(loaded.people)} usable "
                "conversations in any part; change it"
            )
        settings = (self.division, self.filters, self.clocks, self.views, self.score_range)
        name = f"{self.version}-{self.target}-{reading.short_hash(settings)}.csv"
        skipped = {name: str(error.reason) for name, error in loaded.skipped.items()}
        write_parts(Path(self.data_dir) / "candor" / "parts" / name, division, skipped)
        _tell(loaded, division)
        return division


def _tell(loaded: reading.Loaded, division: Division) -> None:
    """Say what of the data is not used, and by which reasons."""
    sharing = [name for name, why in division.left_out.items() if why == SHARES_PEOPLE]
    num_left_out = len(loaded.skipped) + len(sharing)
    is_usual = len(sharing) <= len(loaded.people) / 2  # people meet several others
    if is_usual and not loaded.skipped and not loaded.lacking:
        return
    reasons = [reading.listed(loaded.skipped)] if loaded.skipped else []
    if sharing:
        told = f"{SHARES_PEOPLE} ({len(sharing)}, as dataset.division.drop_shared says"
        if "train" not in division.parts.values():
            told += f"; {_in_most(loaded.people)}: set dataset.division.drop_shared=none"
        reasons.append(f"{told})")
    if loaded.lacking:
        of_sessions = reading.listed(dict(loaded.lacking))
        reasons.append(f"and of the others {len(loaded.lacking)} sessions: {of_sessions}")
    _log.warning(
        "%d of %d conversations can be used; %d are left out: %s",
        loaded.num_conversations - num_left_out,
        loaded.num_conversations,
        num_left_out,
        "; ".join(reasons),
    )


def _in_most(people: Mapping[str, Sequence[str]]) -> str:
    """Who speaks in most conversations, as an agent does who is in all of them."""
    ((person, count),) = Counter(each for pair in people.values() for each in pair).most_common(1)
    return f"{person} speaks in {count} of {len(people)}"


def _check_scale(target: str, scale: Sequence[float] | None) -> None:
    if scale is None and target not in SCALES:
        raise ConfigError(
            f"dataset.target={target} is no question with a known scale; use one of "
            f"{', '.join(sorted(SCALES))}, or give dataset.scale=[LOWEST,HIGHEST]"
        )
    if scale is not None and not (len(scale) == 2 and scale[0] < scale[1]):
        raise ConfigError(f"dataset.scale={scale} must be the lowest and the highest answer")


def _label_counts(sessions: Sequence[Session]) -> Mapping[str, JSON]:
    """How many turns of agents have a positive, zero or negative label, or none."""
    counts = Counter(
        _kind(turn.reaction.label)
        for session in sessions
        for turn in session.turns
        if turn.reaction is not None
    )
    return {kind: counts[kind] for kind in ("positive", "zero", "negative", "none")}


def _kind(label: float | None) -> str:
    if label is None:
        return "none"
    return "positive" if label > 0 else "negative" if label < 0 else "zero"


def _unknown(tasks: Sequence[str], name: str) -> str:
    some = ", ".join(tasks[:2]) + (", ..." if len(tasks) > 2 else "")
    return f"dataset.ids={name} is no task of the split; ids are {some}"
