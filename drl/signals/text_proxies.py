"""What a transcript alone tells of how a listener took each turn: guesses, not observations.

After each turn of one person, the other's reply is looked at: how long it took, whether it asks
again, whether it repeats itself, whether its tone is better than before, whether there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.transcript import Spoken

_REPAIR = re.compile(
    r"^\W*(?:huh|what|eh|hm+|who|where|sorry|pardon|excuse me)\s*\?"
    r"|\b(?:come again|say (?:that|it) again|repeat that|what (?:do|did) you (?:mean|say)"
    r"|what(?:'s| is| was) that\?|(?:do|did)n.?t (?:catch|get|follow|understand|hear)"
    r"|you mean\b[^.!]*\?|i(?: a|')m (?:lost|confused)|that(?:'s| is) not what i)",
    re.IGNORECASE,
)
"""The listener asks again or says that they were not understood."""

_FAREWELL = re.compile(
    r"\b(?:bye|goodbye|farewell|take care|see you|talk (?:to you )?(?:soon|later)|good ?night"
    r"|have a (?:good|great|nice|lovely)|thank(?:s| you)|so long|cheers"
    r"|(?:nice|great|good|lovely|pleasure) (?:to meet|meeting|talking|chatting))\b",
    re.IGNORECASE,
)
"""An end that both sides meant."""

_WORD = re.compile(r"\w+(?:'\w+)?")
_FEWEST_WORDS = 4
"""Shorter replies repeat each other by chance: yes, right, I know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxies:
    """What one turn was answered with.

    `tone` and `tone_shift` in [-1, 1], of the reply and against the listener's reply before;
    `slowness` in [-1, 1], of the reply against this listener's own habit; `repair`, `repetition`
    and `hang_up` in [0, 1]. `latency_s` is the gap itself, negative where the reply came before
    the end, None without a reply.
    """

    latency_s: float | None
    tone: float
    tone_shift: float
    slowness: float
    repair: float
    repetition: float
    hang_up: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each proxy adds to the score of a turn. Ours, by plausibility: nothing was fitted."""

    tone: float = 0.5
    tone_shift: float = 0.5
    slowness: float = -0.2
    repair: float = -0.6
    repetition: float = -0.4
    hang_up: float = -0.8


def proxies_of(turns: Sequence[Spoken], tone_of: Callable[[str], float]) -> list[Proxies]:
    """The proxies of each turn, by its listener's reply.

    Args:
        turns: alternating turns of two people.
        tone_of: how positive a text is, in [-1, 1].
    """
    tones = [tone_of(turn.text) for turn in turns]
    gaps = [after.start - turn.stop for turn, after in pairwise(turns)]
    slowness = _slowness(gaps, [turn.speaker for turn in turns[1:]])
    found = []
    for place in range(len(turns)):
        reply = place + 1 if place + 1 < len(turns) else None
        found.append(
            Proxies(
                latency_s=None if reply is None else gaps[place],
                tone=0.0 if reply is None else tones[reply],
                tone_shift=_shift(tones, reply),
                slowness=0.0 if reply is None else slowness[place],
                repair=float(reply is not None and bool(_REPAIR.search(turns[reply].text))),
                repetition=0.0 if reply is None else _repetition(turns, reply),
                hang_up=float(_hung_up(turns, place)),
            )
        )
    return found


def score(proxies: Proxies, weights: Weights) -> float:
    """One number in [-1, 1] for how the turn was taken; 0 is neutral."""
    total = (
        weights.tone * proxies.tone
        + weights.tone_shift * proxies.tone_shift
        + weights.slowness * proxies.slowness
        + weights.repair * proxies.repair
        + weights.repetition * proxies.repetition
        + weights.hang_up * proxies.hang_up
    )
    return max(-1.0, min(1.0, total))


def _shift(tones: Sequence[float], reply: int | None) -> float:
    """Half the change of tone, so that it stays in [-1, 1]; 0 in a first reply."""
    return 0.0 if reply is None or reply < 2 else (tones[reply] - tones[reply - 2]) / 2


def _slowness(gaps: Sequence[float], listeners: Sequence[str]) -> NDArray[np.float64]:
    """How far each gap is from its listener's median, in deviations, of which 3 are the most."""
    values, who = np.array(gaps), np.array(listeners)
    found = np.zeros(len(values))
    for listener in set(listeners):
        own = values[who == listener]
        median = float(np.median(own))
        # the usual robust deviation; at least 0.2 s, so that nobody is judged by milliseconds
        deviation = max(0.2, 1.4826 * float(np.median(np.abs(own - median))))
        found[who == listener] = np.clip((own - median) / deviation, -3, 3) / 3
    return found


def _repetition(turns: Sequence[Spoken], reply: int) -> float:
    """The share of words that a reply has in common with one of the two before by that person.

    Shares below one half are 0: people come back to words without repeating themselves.
    """
    words = _words(turns[reply])
    if len(words) < _FEWEST_WORDS:
        return 0.0
    before = [_words(turns[place]) for place in (reply - 2, reply - 4) if place >= 0]
    shares = [len(words & other) / len(words | other) for other in before]
    highest = max(shares, default=0.0)
    return highest if highest >= 0.5 else 0.0


def _words(turn: Spoken) -> set[str]:
    return set(_WORD.findall(turn.text.lower()))


def _hung_up(turns: Sequence[Spoken], place: int) -> bool:
    """Whether the listener left this turn unanswered, and neither side had said goodbye."""
    if place + 1 < len(turns):
        return False
    return not any(_FAREWELL.search(turn.text) for turn in turns[-3:])
