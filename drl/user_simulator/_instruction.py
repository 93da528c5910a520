"""An instruction in the form of tau-bench, taken apart: who the customer is, and what it wants.

"You are Ann Lee in 10115, and you want to return a lamp. You are in a hurry." tells a name and a
zip code, which are said when they are asked for; a request; and a character, which nobody says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from drl.user_simulator._first_person import first_person

_EMAIL = re.compile(r"[\w.+-]{1,80}@[\w-]{1,80}(?:\.[\w-]{1,40}){1,4}")
_USER_ID = re.compile(r"\b(?!credit_card|gift_card|certificate)[a-z]+(?:_[a-z]+){1,3}_\d{4}\b")
_NAME = re.compile(
    r"\b[Yy]our? name is ((?:[A-Z][\w'’-]*)(?: [A-Z][\w'’-]*){0,2})"
    r"|\b[Yy]ou(?: are|['’]re) ((?:[A-Z][\w'’-]*)(?: [A-Z][\w'’-]*){1,2})"
)
_ZIP_NAMED = re.compile(r"\bzip(?:[ -]?code)?\W{0,3}(?:is |of )?(\d{5})\b", re.IGNORECASE)
_ZIP = re.compile(r"(?<![\w#$.-])(\d{5})(?![\w-])")

_ABBREVIATIONS = frozenset(("mr", "mrs", "ms", "dr", "st", "vs", "no", "e.g", "i.e", "apt"))
_SENTENCE_END = re.compile(r"[.!?]+[\"')\]]*\s+")
_BREAK = re.compile(
    r"(?:[,;]\s*(?:(?:and|but|so)\s+)?|\s+(?:and|but|so)\s+)"
    r"(?=(?:you|your|want|wish|would|need|received|ordered|have)\b)",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"you(?: are|['’]re)\b|you live\b|you reside\b"
    r"|your? (?:name|(?:user|customer)[ _]?(?:id|name)|id|e-?mail(?: address)?|zip(?:[ -]?code)?)"
    r" is\b",
    re.IGNORECASE,
)
_LIVES = re.compile(r"you (?:are |['’]re )?(?:live|living|reside|residing)\b", re.IGNORECASE)
_CHARACTER = re.compile(
    r"you(?: are|['’]re| can be| tend to be| sound| seem)\s+"
    r"(?:[a-z-]+[\s,]+){0,13}[a-z-]+[\s.!]*\Z",
    re.IGNORECASE,
)
_IS_MORE = re.compile(
    r"\b(?:want|need|like to|interested|looking|trying|planning|calling|wonder\w*|exchang\w*"
    r"|return\w*|cancel\w*|modif\w*|chang\w*|order\w*|refund\w*|book\w*|flights?|fly\w*"
    r"|reserv\w*|upgrad\w*|bags?|pay\w*|buy\w*|if|that|because|when|about|to|with)\b",
    re.IGNORECASE,
)
_STAGE_DIRECTION = re.compile(
    r"\breactive\b|\bnot (?:been )?asked\b|\bunless asked\b|\breveal much\b|\bthis instruction\b",
    re.IGNORECASE,
)
_FEW_WORDS = 8
"""Words of the longest clause that only tells where someone lives."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """What is known: `facts` by name (name, zip, email, user_id), and requests in first person."""

    facts: Mapping[str, str]
    requests: tuple[str, ...]


def take_apart(lines: Sequence[str]) -> Instruction:
    """An instruction as facts and requests."""
    heads: list[str] = []
    requests: list[str] = []
    for sentence in _sentences("\n".join(lines)):
        about, rest = _peeled(sentence)
        heads += about
        if rest:
            requests.append(first_person(rest))
    return Instruction(dict(_facts("\n".join(lines), " ".join(heads))), tuple(requests))


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        start = 0
        for end in _SENTENCE_END.finditer(line):
            word = line[start : end.start()].rpartition(" ")[2].lower().strip("(\"'")
            follows = line[end.end() : end.end() + 1]
            if word in _ABBREVIATIONS or follows.islower():
                continue
            yield line[start : end.end()].strip()
            start = end.end()
        if line[start:].strip():
            yield line[start:].strip()


def _peeled(sentence: str) -> tuple[list[str], str]:
    """What a sentence begins with about who the customer is, and the rest of it."""
    heads: list[str] = []
    while sentence:
        at = _BREAK.search(sentence)
        head = sentence[: at.start()] if at else sentence
        if not _is_about_oneself(head):
            break
        heads.append(head)
        sentence = sentence[at.end() :] if at else ""
        if sentence and not sentence.lower().startswith("you"):
            sentence = f"you {sentence}"
    return heads, sentence


def _is_about_oneself(head: str) -> bool:
    if _STAGE_DIRECTION.search(head):
        return True
    if _LIVES.match(head) and len(head.split()) <= _FEW_WORDS:
        return True
    if _WHO.match(head) and any(_values(head)):
        return True
    return bool(_CHARACTER.match(head)) and not _IS_MORE.search(head)


def _values(head: str) -> Iterator[str]:
    for pattern in (_EMAIL, _USER_ID, _NAME, _ZIP):
        found = pattern.search(head)
        if found:
            yield found[0]


def _facts(text: str, heads: str) -> Iterator[tuple[str, str]]:
    name = _NAME.search(text)
    if name:
        yield "name", name[1] or name[2]
    zip_code = _ZIP_NAMED.search(text) or _ZIP.search(heads)
    if zip_code:
        yield "zip", zip_code[1]
    for key, pattern in (("email", _EMAIL), ("user_id", _USER_ID)):
        found = pattern.search(text)
        if found:
            yield key, found[0]
