"""Statements about a dialogue, put to a judge and read from its judgment; the words are ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drl.runtime.prompts import fill
from drl.types import Role, Turn

_VERDICT = re.compile(r"^\W*(\d{1,3})\W{1,4}(TRUE|FALSE)\b\W*$", re.MULTILINE | re.IGNORECASE)


def question(statements: Sequence[str], said: Sequence[Turn]) -> str:
    """What the judge is asked, once about all statements."""
    speakers = {Role.AGENT: "agent", Role.USER: "customer"}
    return fill(
        "drl.domains.tau2",
        "assertions.md",
        conversation="\n".join(f"{speakers[t.role]}: {t.text}" for t in said if t.text),
        statements="\n".join(f"{n}. {text}" for n, text in enumerate(statements, start=1)),
    )


def all_true(judgment: str, num_statements: int) -> bool | None:
    """Whether the judgment finds all true; None unless it says so of each. Its last word counts."""
    found = {int(number): word.upper() for number, word in _VERDICT.findall(judgment)}
    if not set(range(1, num_statements + 1)) <= found.keys():
        return None
    return all(found[number] == "TRUE" for number in range(1, num_statements + 1))
