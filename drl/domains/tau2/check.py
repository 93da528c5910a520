"""What tau2 checks of a finished dialogue, in environments of its own.

As in its evaluators: the calls of the dialogue are carried out again from the beginning, the
actions of the task in another environment, and both databases are compared by tau2's hashes. What
a task demands stands in its `reward_basis`; all of it has to hold.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from drl.domains.tau2.interface import Requestor, Spoken, ToolCall
from drl.domains.tau2.state import Branch, hashes
from drl.domains.tau2.world import Scene
from drl.errors import DataError
from drl.types import JSON, Role, Turn

JUDGED: Final = "NL_ASSERTION"
"""What only a model can say: whether sentences about the dialogue are true."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, for each part of the task's basis; None where a model has to say it.

    `refused` counts the calls of both sides that were refused.
    """

    parts: dict[str, bool | None]
    refused: int


def find(scene: Scene, opening: Sequence[Turn], dialogue: Sequence[Turn]) -> Findings:
    """What the dialogue did and said.

    Raises:
        DataError: a call gives another result than is stored, or the task demands what is not
            known here.
    """
    calls = [call for call, _ in _calls(scene, dialogue)]
    after = _after(scene, dialogue)
    parts: dict[str, bool | None] = {}
    for part in scene.basis:
        if part == "DB":
            parts[part] = _reaches_gold(scene, after)
        elif part == "ENV_ASSERTION":
            parts[part] = _asserted(scene, after.fork())
        elif part == "ACTION":
            made = [*_made_before(scene), *calls]
            parts[part] = all(any(map(a.compare_with_tool_call, made)) for a in scene.actions)
        elif part == "COMMUNICATE":
            parts[part] = _communicated(scene, (*opening, *dialogue))
        elif part == JUDGED:
            parts[part] = None if assertions(scene) else True
        else:
            raise DataError(f"task {scene.task.id} of tau2 demands {part}, which drl cannot check")
    refused = sum(r.error is not None for turn in dialogue for _, _, _, r in turn.executed())
    return Findings(parts, refused)


def assertions(scene: Scene) -> Sequence[str]:
    """Sentences about the dialogue that have to be true."""
    return () if scene.criteria is None else scene.criteria.nl_assertions or ()


def _calls(scene: Scene, dialogue: Sequence[Turn]) -> Iterator[tuple[ToolCall, JSON]]:
    """The calls of both sides that tau2 can read, with what they gave."""
    for turn in dialogue:
        requestor: Requestor = "assistant" if turn.role is Role.AGENT else "user"
        for _, _, call, result in turn.executed():
            try:
                yield scene.world.call(call, requestor), result.value
            except ValueError:
                continue  # refused before it came to tau2


def _after(scene: Scene, dialogue: Sequence[Turn]) -> Branch:
    """The state after all calls.

    Raises:
        DataError: one gives another result than is stored.
    """
    branch = scene.begin()
    for call, stored in _calls(scene, dialogue):
        content = branch.respond(call).content
        if content != stored:
            raise DataError(
                f"task {scene.task.id} of tau2: {call.name} gives another result than is stored; "
                "its data or code has changed, or it draws at random"
            )
    return branch


def _reaches_gold(scene: Scene, after: Branch) -> bool:
    """Whether both databases are as the actions leave them; true where no task says how."""
    criteria = scene.criteria
    if criteria is None or (criteria.actions is None and criteria.env_assertions is None):
        return True
    return hashes(after.look()) == scene.gold.digests


def _asserted(scene: Scene, after: Branch) -> bool:
    """Whether all assertions hold; one that raises, say about what is not there, does not."""
    asked = () if scene.criteria is None else scene.criteria.env_assertions or ()
    environment = after.own()
    try:
        return all(
            environment.run_env_assertion(each, raise_assertion_error=False) for each in asked
        )
    except Exception as error:  # assertions are functions of tau2, which may raise anything
        _LOG.info("an assertion of %s raised %s: %s", scene.task.id, type(error).__name__, error)
        return False


def _communicated(scene: Scene, said: Sequence[Turn]) -> bool:
    """Whether the agent said all texts, in whatever case; commas in what it said do not count."""
    wanted = () if scene.criteria is None else scene.criteria.communicate_info or ()
    texts = [
        turn.text.lower().replace(",", "")
        for turn in said
        if turn.role is Role.AGENT and turn.text is not None
    ]
    return all(any(each.lower() in text for text in texts) for each in wanted)


def _made_before(scene: Scene) -> Iterator[ToolCall]:
    """The calls of the dialogue that a task begins with."""
    for message in scene.history:
        if message.role in ("assistant", "user"):
            yield from cast("Spoken", message).tool_calls or ()
