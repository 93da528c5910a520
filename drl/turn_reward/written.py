"""Dialogues that lie in files, to be scored: CANDOR transcripts, and messages with roles as JSON.

What one side says in several rows or messages is one turn, as in the sessions that rewards are
learned from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeGuard

from drl.domains.candor import transcript
from drl.domains.candor.faults import Notes, UnusableError
from drl.errors import DataError
from drl.runtime.surrogates import writable
from drl.turn_reward.session import Utterance
from drl.types import JSON, Role

_TABLES = (".csv", ".tsv")
_ASSISTANT = "assistant"
_UNHEARD = ("system", "developer", "tool", "function")
"""Roles of messages that neither side says aloud."""


class Said(NamedTuple):
    """A turn: the number of its first row or message in the file, who spoke, and what."""

    number: int
    speaker: str
    text: str


@dataclass(frozen=True)
class WrittenDialogue:
    """A dialogue, and who in it are agents: each of several counts as one for themselves."""

    turns: Sequence[Said]
    agents: Sequence[str]

    def heard(self, agent: str) -> list[Utterance]:
        """What was said where this speaker is the agent, and all others are listeners."""
        return [
            Utterance(Role.AGENT if turn.speaker == agent else Role.USER, turn.text)
            for turn in self.turns
        ]


def read_dialogues(file: Path, agent: str | None) -> list[WrittenDialogue]:
    """The dialogues of a file.

    A table (.csv, .tsv) is a transcript as CANDOR has them, with the columns speaker, start, stop
    and utterance. Other files are JSON: a list of messages {role, content}, an object with such a
    list as `messages`; or, one a line, messages of one dialogue or objects with `messages`.

    Args:
        file: to be read.
        agent: the speaker or role whose turns earn rewards; None: both speakers of a transcript,
            the assistant of messages.

    Raises:
        DataError: it cannot be read, holds something else, or nobody in it is the agent.
    """
    if file.suffix.lower() in _TABLES:
        return [_transcript(file, agent)]
    named = agent or _ASSISTANT
    found = [
        WrittenDialogue(_joined(_heard(messages, file)), [named]) for messages in _messages(file)
    ]
    for dialogue in found:
        speakers = dict.fromkeys(turn.speaker for turn in dialogue.turns)
        if named not in speakers:
            raise DataError(
                f"{file}: no message has the role {named}; its roles are "
                f"{', '.join(speakers) or 'none'}; name the agent's with --agent"
            )
    return found


def _transcript(file: Path, agent: str | None) -> WrittenDialogue:
    notes = Notes()
    try:
        rows = transcript.merged(transcript.read(file, inf, notes), notes)
    except UnusableError as error:
        raise DataError(
            f"{file}: is no transcript ({error}); it needs the columns speaker, start, stop and "
            "utterance"
        ) from error
    turns = [Said(row.number, row.speaker, row.text) for row in rows]
    speakers = list(dict.fromkeys(turn.speaker for turn in turns))
    if agent is not None and agent not in speakers:
        raise DataError(f"{file}: {agent} does not speak in it; speakers: {', '.join(speakers)}")
    if agent is None and len(speakers) != 2:
        raise DataError(
            f"{file}: has {len(speakers)} speakers ({', '.join(speakers)}), not two; name one with "
            "--agent, and the others count as listeners"
        )
    return WrittenDialogue(turns, speakers if agent is None else [agent])


def _messages(file: Path) -> Iterator[Sequence[JSON]]:
    """The messages of each dialogue."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        ) from error
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror}); name another") from error
    try:
        whole: JSON = json.loads(text)
    except (ValueError, RecursionError):
        whole = [_line(file, number, line) for number, line in _lines(text)]
    listed = whole if isinstance(whole, list) else [whole]
    if not listed:
        raise DataError(f"{file}: holds no messages; write {{role, content}}, one a line")
    dialogues = [each["messages"] for each in listed if _is_dialogue(each)]
    for messages in dialogues if len(dialogues) == len(listed) else [listed]:
        if not isinstance(messages, list):
            raise DataError(f"{file}: messages is no list; write a list of {{role, content}}")
        yield messages


def _is_dialogue(value: JSON) -> TypeGuard[Mapping[str, JSON]]:
    return isinstance(value, Mapping) and "messages" in value


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold anything, by their numbers; line feeds alone end them."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _line(file: Path, number: int, line: str) -> JSON:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{file}:{number}: is not JSON ({error}); write one message {{role, content}} a line"
        ) from error


def _heard(messages: Sequence[JSON], file: Path) -> Iterator[Said]:
    """What sides say aloud; calls of tools have no content."""
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise DataError(
                f"{file}: message {number} is {message!r:.80}; it must be an object with role and "
                "content"
            )
        text = _text(message.get("content"))
        if text is None:
            raise DataError(
                f"{file}: message {number} has a content that is neither text nor a list of text "
                "parts; write the words alone"
            )
        if message["role"] not in _UNHEARD and text.strip():
            yield Said(number, writable(str(message["role"])), writable(text))


def _text(content: JSON) -> str | None:
    """The words of a message, in either of OpenAI's forms; None where it has another one."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    parts = [each.get("text") for each in content if isinstance(each, Mapping)]
    words = [part for part in parts if isinstance(part, str)]
    return " ".join(words) if len(words) == len(content) else None


def _joined(said: Iterator[Said]) -> list[Said]:
    turns: list[Said] = []
    for each in said:
        if turns and turns[-1].speaker == each.speaker:
            turns[-1] = turns[-1]._replace(text=f"{turns[-1].text} {each.text}")
        else:
            turns.append(each)
    return turns
