"""What a docstring says: its first paragraph, and its "Args:" by parameter (Google style)."""

import re
from inspect import cleandoc
from typing import NamedTuple

_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns|Yields|Raises|Notes?|Examples?):\s*$", re.MULTILINE
)
_PARAMETER = re.compile(r"^(\s*)\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


class Docstring(NamedTuple):
    """A tool's description and those of its parameters; texts without line breaks."""

    description: str
    parameters: dict[str, str]


def parse(docstring: str) -> Docstring:
    """The parts of a docstring; what it does not say is empty."""
    text = cleandoc(docstring)
    pieces = _SECTION.split(text)
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    arguments = next(
        (sections[n] for n in ("Args", "Arguments", "Parameters") if n in sections), ""
    )
    return Docstring(_joined(pieces[0].strip().partition("\n\n")[0]), _parameters(arguments))


def _parameters(section: str) -> dict[str, str]:
    """Each entry with the lines that are indented below it."""
    found: dict[str, str] = {}
    name, margin = "", None
    for line in section.strip("\n").splitlines():
        entry = _PARAMETER.match(line)
        if entry and (margin is None or len(entry[1]) == margin):
            margin, name = len(entry[1]), entry[2]
            found[name] = entry[3]
        elif name:
            found[name] += " " + line
    return {name: said for name, text in found.items() if (said := _joined(text))}


def _joined(text: str) -> str:
    return " ".join(text.split())
