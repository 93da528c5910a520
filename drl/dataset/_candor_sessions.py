"""From a recording to the sessions of its listeners: turns, scores, faces as labels, and cues.

Of two people A and B, A's score and face credit the turns of B, and the other way round: these are
two sessions of one conversation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.alignment import LabelSettings, Windows, dominant, labels, means, windows
from drl.domains.candor.faults import UnusableError
from drl.domains.candor.files import Recording
from drl.domains.candor.filters import FilterSettings, check_conversation, check_face, score_of
from drl.domains.candor.signals import FACES, Signals
from drl.domains.candor.survey import Scale
from drl.domains.candor.transcript import Spoken
from drl.turn_reward.session import Reaction, Session, SessionTurn
from drl.types import JSON, Role

NO_SPLIT = ""
"""Of sessions whose part is not decided yet: that takes all conversations."""


@dataclass(frozen=True, kw_only=True)
class ViewSettings:
    """Whose sessions are made of a conversation, and whose face is looked at.

    `views`: both listeners'; only that of who spoke first; or as the released GELI makes them of
    its first listener: once as they are, and once more with the other person's score.
    `faces`: the listener's, or, as the released GELI trains on faces, always that of who spoke
    first, though in half of the turns that one is talking.
    """

    views: Literal["both", "first", "released"]
    faces: Literal["listener", "first_speaker"]
    labels: LabelSettings
    filters: FilterSettings
    scale: Scale


class _View(NamedTuple):
    """A session to be made: its name, whose turns are credited, whose score and face count."""

    name: str
    agent: str
    scorer: str
    watched: str


class Made(NamedTuple):
    """The sessions of a conversation, and what was wrong with those that it lacks."""

    sessions: Sequence[Session]
    lacking: Sequence[UnusableError]


def sessions_of(recording: Recording, settings: ViewSettings) -> Made:
    """All sessions of a conversation that can be used; their split is for others to decide.

    Raises:
        UnusableError: none can be used.
    """
    check_conversation(recording, settings.filters)
    made: list[Session] = []
    lacking: list[UnusableError] = []
    for view in _views(recording, settings):
        try:
            check_face(recording, view.watched, settings.filters)
            score = score_of(recording, view.scorer, settings.scale, settings.filters)
        except UnusableError as error:
            lacking.append(error)
            continue
        made.append(
            Session(
                id=f"{recording.id}/{view.name}",
                conversation_id=recording.id,
                split=NO_SPLIT,
                turns=tuple(_turns(recording, view, settings.labels)),
                score=score,
            )
        )
    if not made:
        raise lacking[0]
    return Made(made, lacking)


def _views(recording: Recording, settings: ViewSettings) -> Sequence[_View]:
    first, second = recording.speakers
    as_first = _View("first", agent=second, scorer=first, watched=first)
    if settings.views == "first":
        return [as_first]
    if settings.views == "released":
        return [as_first, as_first._replace(name="first_flipped", scorer=second)]
    watched = second if settings.faces == "listener" else first
    return [as_first, _View("second", agent=first, scorer=second, watched=watched)]


def _turns(recording: Recording, view: _View, settings: LabelSettings) -> Iterator[SessionTurn]:
    spoken = recording.turns
    of_agent = [place for place, turn in enumerate(spoken) if turn.speaker == view.agent]
    reactions = dict(
        zip(
            of_agent,
            _reactions(spoken, of_agent, recording.signals.get(view.watched), settings),
            strict=True,
        )
    )
    for place, turn in enumerate(spoken):
        role = Role.AGENT if place in reactions else Role.USER
        reaction = reactions.get(place)
        yield SessionTurn(turn.number, role, turn.text, turn.start, turn.stop, reaction)


def _reactions(
    spoken: Sequence[Spoken],
    of_agent: Sequence[int],
    seen: Signals | None,
    settings: LabelSettings,
) -> Sequence[Reaction]:
    cues = [_timing(spoken, place) for place in of_agent]
    if seen is None:
        return [Reaction(settings.otherwise, of) for of in cues]
    turns = _windows(seen, [spoken[place] for place in of_agent], settings.lag_s)
    num_words = np.array([spoken[place].num_words for place in of_agent], dtype=np.intp)
    known = labels(seen.faces, turns, num_words, settings).tolist()
    for of, more in zip(cues, _visible(seen, turns), strict=True):
        of.update(more)
    replies = [spoken[min(place + 1, len(spoken) - 1)] for place in of_agent]
    for name in ("pitch", "intensity"):
        for of, place, value in zip(
            cues, of_agent, _against_own_mean(seen, name, replies), strict=True
        ):
            if _is_answered(spoken, place) and not math.isnan(value):
                of[f"{name}_z"] = round(value, 2)
    return [
        Reaction(None if math.isnan(label) else label, of)
        for label, of in zip(known, cues, strict=True)
    ]


def _is_answered(spoken: Sequence[Spoken], place: int) -> bool:
    return place + 1 < len(spoken) and spoken[place + 1].speaker != spoken[place].speaker


def _timing(spoken: Sequence[Spoken], place: int) -> dict[str, JSON]:
    """How soon the listener answered, and how much of the turn was talked over, in seconds."""
    cues: dict[str, JSON] = {}
    turn = spoken[place]
    if turn.num_backchannels is not None:
        cues["backchannels"] = turn.num_backchannels
    if _is_answered(spoken, place):
        gap = spoken[place + 1].start - turn.stop
        cues["reply_latency_s"] = round(max(gap, 0.0), 2)
        cues["overlap_s"] = round(max(min(-gap, turn.stop - turn.start), 0.0), 2)
    return cues


def _visible(seen: Signals, turns: Windows) -> Iterator[Mapping[str, JSON]]:
    """What the face shows most, in which share of the seconds, and how much of them it looks on."""
    most = dominant(seen.faces, turns)
    gaze = seen.measures.get("gaze")
    looks_on = np.full(len(most.face), np.nan) if gaze is None else means(gaze, turns)
    columns = (most.face.tolist(), most.share.tolist(), looks_on.tolist())
    for face, share, looking in zip(*columns, strict=True):
        cues: dict[str, JSON] = {}
        if face >= 0:
            cues |= {"face": FACES[face], "face_share": round(share, 2)}
        if not math.isnan(looking):
            cues["gaze_share"] = round(looking, 2)
        yield cues


def _against_own_mean(seen: Signals, name: str, replies: Sequence[Spoken]) -> Sequence[float]:
    """A measure of the voice in each reply, in standard deviations from the person's own mean.

    NaN where it was not measured. A listener is silent while the agent speaks, so replies are what
    tells. Seconds in which the person does not speak are left out where that is known.
    """
    if name not in seen.measures:
        return [np.nan] * len(replies)
    values = seen.measures[name].astype(np.float64)
    if "speaking" in seen.measures:
        values = np.where(seen.measures["speaking"] > 0.5, values, np.nan)
    known = values[~np.isnan(values)]
    spread = float(known.std()) if len(known) else 0.0
    if not spread:
        return [np.nan] * len(replies)
    return means((values - known.mean()) / spread, _windows(seen, replies, 0.0)).tolist()


def _windows(seen: Signals, turns: Sequence[Spoken], lag_s: float) -> Windows:
    starts: NDArray[np.float64] = np.array([turn.start for turn in turns], dtype=np.float64)
    stops: NDArray[np.float64] = np.array([turn.stop for turn in turns], dtype=np.float64)
    return windows(seen.seconds, starts, stops, lag_s)
