"""What people are asked about answers. The wording is ours.

The first five are criteria of GELI's human study whose names are known (arXiv:2403.11330); its
other three are not, so general ones of dialogue quality stand in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from drl.errors import ConfigError

CRITERIA: Mapping[str, str] = {
    "emotional_connection": "Which answer shows more feeling for the other person?",
    "positivity": "Which answer is the more positive one?",
    "social_understanding": "Which answer reads the social situation better?",
    "interestingness": "Which answer is more interesting?",
    "intent_to_reuse": "With which one would you rather talk again?",
    "fluency": "Which answer is better language, easier to read?",
    "sensibleness": "Which answer makes more sense as the next thing to say?",
    "non_repetition": "Which answer repeats less of what was said before?",
}

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def choose_criteria(chosen: Sequence[str]) -> Mapping[str, str]:
    """The questions to ask, by name: the known ones that are named, and NAME=QUESTION as given.

    Raises:
        ConfigError: a name is unknown, comes twice, or is no lower-case word.
    """
    if not chosen:
        return CRITERIA
    found: dict[str, str] = {}
    for text in chosen:
        name, _, question = (part.strip() for part in text.partition("="))
        if name in found:
            raise ConfigError(f"--criteria {name}: is named twice; name it once")
        if not question and name not in CRITERIA:
            raise ConfigError(
                f"--criteria {text}: is unknown; known: {', '.join(CRITERIA)}, or say NAME=QUESTION"
            )
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"--criteria {text}: the name {name!r} must be lower-case letters, digits and _"
            )
        found[name] = question or CRITERIA[name]
    return found
