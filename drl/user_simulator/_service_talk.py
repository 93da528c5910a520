"""What an agent's words ask of a customer, by rules for English."""

from __future__ import annotations

import re
from dataclasses import dataclass

from drl.domains.conversation import LONGEST

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*|[.!?\n]+")
_ASKS = re.compile(
    r"\?|\bplease\b|\bprovide\b|\bshare\b|\bneed\b|\b(?:tell|give) me\b|\blet me know\b|\brequire",
    re.IGNORECASE,
)
_FIELDS = {
    "user_id": re.compile(
        r"\b(?:user|customer|member(?:ship)?|account) ?(?:ids?|numbers?)\b|\buser ?names?\b", re.I
    ),
    "name": re.compile(r"(?<!user )\bnames?\b", re.I),
    "zip": re.compile(r"\bzip\b|\bpost(?:al)? ?code", re.I),
    "email": re.compile(r"\be-?mail", re.I),
}
_IDENTITY = re.compile(
    r"\bverify (?:you\b|your (?:identity|account))|\byour identity\b|\bauthenticat"
    r"|\bwho (?:you are|are you)",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"\byes\b|\b(?:like|want|wish|ready|okay|ok|agree) (?:me )?to (?:proceed|go ahead)\b"
    r"|\b(?:shall|should) i\b|\bmay i (?!have|ask|know|get|please)\b"
    r"|\b(?:would you like|do you want) me to\b|\bdo you (?:confirm|agree)\b|\bare you sure\b"
    r"|\bis (?:that|this) (?:right|ok|okay|correct|fine|all right)\b|\bcorrect\?"
    r"|\bcan i (?:go|do|make|process|cancel|book|change|update)\b",
    re.IGNORECASE,
)
_MAY_BE_CONSENT = re.compile(r"\bconfirm|\bproceed\b|\bgo ahead\b", re.IGNORECASE)
_ANYTHING_ELSE = re.compile(
    r"\b(?:anything|something|what) else\b|\bfurther\b|\bother (?:questions|requests)\b", re.I
)
_HOW_TO_HELP = re.compile(
    r"\bhow (?:can|may|could) i (?:help|assist)\b|\bwhat (?:can|may) i do for you\b", re.I
)
_WILL_ACT = re.compile(
    r"\bi(?:['’]ll| will|['’]m going to| am going to)\b|\blet me (?!know\b)|\bmoment\b|\bhold on\b"
    r"|\bplease wait\b|\bbear with me\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\bdone\b|\bcomplete|\bcancell?ed\b|\b(?:has|have) been\b|\bsuccessful|\bupdated\b|\bbooked\b"
    r"|\btaken care\b|\ball set\b|\bunable\b|\bcan(?:not|['’]t)\b|\bsorry\b"
    r"|\bnot (?:possible|able)\b",
    re.IGNORECASE,
)
_WANTS_ID = re.compile(r"\b(?:id|number|code)s?\b|\bwhich (?:order|reservation|flight)", re.I)


@dataclass(frozen=True, slots=True)
class Heard:
    """An agent's turn: which facts it asks for, what else it asks, and how it leaves things.

    `fields` are of name, zip, email, user_id; `wants_identity` means any of them. `question` is
    what it asks beside that, and `wants_id` whether for a number or the like.
    """

    fields: tuple[str, ...]
    wants_identity: bool
    wants_consent: bool
    asks_what_else: bool
    asks_how_to_help: bool
    question: str
    wants_id: bool
    will_act: bool
    is_done: bool


def hear(reply: str) -> Heard:
    """What the words of an agent ask for."""
    reply = reply[:LONGEST]
    asking = [part for part in _SENTENCE.findall(reply) if _ASKS.search(part)]
    others = [part for part in asking if not _wants_consent(part)]
    question = " ".join(filter(_is_open, others))
    return Heard(
        fields=tuple(name for name, field in _FIELDS.items() if any(map(field.search, others))),
        wants_identity=any(map(_IDENTITY.search, others)),
        wants_consent=len(others) < len(asking),
        asks_what_else=any(map(_ANYTHING_ELSE.search, others)),
        asks_how_to_help=any(map(_HOW_TO_HELP.search, others)),
        question=question,
        wants_id=bool(_WANTS_ID.search(question)),
        will_act=bool(_WILL_ACT.search(reply)),
        is_done=bool(_DONE.search(reply)),
    )


def _wants_consent(part: str) -> bool:
    if _CONSENT.search(part):
        return True
    return bool(_MAY_BE_CONSENT.search(part)) and not _is_about_identity(part)


def _is_about_identity(part: str) -> bool:
    return any(pattern.search(part) for pattern in (_IDENTITY, *_FIELDS.values()))


def _is_open(part: str) -> bool:
    """Whether it is a question that none of the other marks covers."""
    covered = _ANYTHING_ELSE.search(part) or _HOW_TO_HELP.search(part) or _is_about_identity(part)
    return part.rstrip().endswith("?") and not covered
