"""Which domain a value is about, by the words around it: 'a cheap restaurant and a hotel'."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from drl.domains.toolwoz.comprehension import Mention
from drl.domains.toolwoz.questions import SENTENCE_ENDS
from drl.domains.toolwoz.vocabulary import word_set

Cue = tuple[int, int, str]
"""Start and end of words that name a domain."""

_OWN_DOMAIN: Final = {
    "leaveAt": "train",
    "arriveBy": "train",
    "departure": "train",
    "destination": "train",
    "stars": "hotel",
    "stay": "hotel",
}
_BETWEEN: Final = word_set("and with in on for at from to but or , ;") | SENTENCE_ENDS
_NEAR: Final = 4
_EVERYDAY_CUISINES: Final = word_set(
    "world creative traditional unusual fusion christmas american english british"
)


def place(
    spoken: Sequence[str], mentions: Sequence[Mention], cues: Sequence[Cue]
) -> tuple[tuple[Mention, ...], str | None]:
    """The mentions with their domains, and the domain that the utterance ends on.

    None stands for whatever was under discussion before.
    """
    signs = [*cues, *((m.start, m.end, m.domain) for m in mentions if m.domain is not None)]
    signs.sort()
    trains = any(domain == "train" for _, _, domain in cues)
    eats = any(domain == "restaurant" for _, _, domain in cues)
    here: str | None = None
    placed: list[Mention] = []
    pending = list(cues)
    for mention in mentions:
        while pending and pending[0][0] < mention.start:
            here = pending.pop(0)[2]
        everyday = mention.slot == "food" and mention.value in _EVERYDAY_CUISINES
        if everyday and not eats and here not in (None, "restaurant"):
            continue
        domain = _domain(spoken, mention, signs, here, trains)
        if mention.domain is not None or mention.slot in _OWN_DOMAIN:
            here = domain
        placed.append(replace(mention, domain=domain))
    return tuple(placed), pending[-1][2] if pending else here


def _domain(
    spoken: Sequence[str],
    mention: Mention,
    signs: Sequence[tuple[int, int, str | None]],
    here: str | None,
    trains: bool,
) -> str | None:
    if mention.slot in ("leaveAt", "arriveBy") and here in ("restaurant", None) and not trains:
        return here  # "a table after 18:00", or an answer to a question
    if mention.slot == "station" and not trains:
        return None
    if (own := mention.domain or _OWN_DOMAIN.get(mention.slot)) is not None:
        return own
    following = [sign for sign in signs if sign[0] >= mention.end]
    if following:
        start, _, domain = following[0]
        gap = spoken[mention.end : start]
        if len(gap) <= _NEAR and not _BETWEEN & set(gap):
            return domain
        if here is None and not SENTENCE_ENDS & set(gap):
            return domain
    return here
