"""What someone is told about themselves, as they would say it: "you want your hat" in first person.

By rules for English; a sentence that they do not know keeps its sense and sounds a little odd.
"""

from __future__ import annotations

import re

_OBJECT_AFTER = (
    "to|for|with|from|at|by|of|about|on|help|helps|give|gives|gave|tell|tells|told|let|lets|ask|asks|"
    "offer|offers|send|sends|sent|show|shows|charge|charges|charged|refund|refunds|allow|allows|make|"
    "makes|assist|assists|call|calls|cost|costs|remind|reminds|suit|suits|contact|contacts|transfer|"
    "transfers|book|books|get|gets|put|puts|keep|keeps|between"
)
_FORMS = {
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "you are": "I am",
    "you're": "I'm",
    "you were": "I was",
    "are you": "am I",
    "were you": "was I",
    "you": "I",
}
_AGENT_FORMS = {"is": "are", "has": "have", "does": "do", "was": "were"}
_PERSON = re.compile(
    r"\bthe (?:service )?agent(?P<owner>['’]s)"
    r"|\bthe (?:service )?agent(?: (?P<verb>is|has|does|was|[a-z]{2,}[a-rt-z]s)\b(?P<you> you\b)?)?"
    rf"|\b(?P<before>{_OBJECT_AFTER})\s+you\b(?!\s+(?:are|were|have|want)\b)"
    r"|\byou(?=\s*(?:[.,;:!?)]|$)|\s+to\s)(?P<object>)"
    r"|\b(?P<form>you are|you['’]re|you were|are you|were you|yours|yourself|your|you)\b",
    re.IGNORECASE,
)


def first_person(sentence: str) -> str:
    """The sentence as said by whom it speaks of; "the agent" becomes "you"."""
    said = _PERSON.sub(_turned, sentence.strip())
    return said[:1].upper() + said[1:]


def _turned(found: re.Match[str]) -> str:
    if found["owner"] is not None:
        return "your"
    if found["before"] is not None:
        return f"{found['before']} me"
    if found["object"] is not None:
        return "me"
    if found["form"] is not None:
        return _FORMS[found["form"].lower().replace("’", "'")]
    verb = found["verb"]
    if verb is None:
        return "you"
    does = f"you {_AGENT_FORMS.get(verb.lower(), verb[:-1])}"
    if found["you"] is None:
        return does
    return f"{does} me" if verb.lower() in _OBJECT_AFTER.split("|") else f"{does} I"
