"""josh-train's own recipe (its data of June 2024): whole golden dialogues, and steps beside them.

Prompts and outputs are compared as messages, as it does; so a prompt is the dialogue as shown in
hindsight, without the note that asks for a reply when calls are used up. Nor does it ask, as other
miners do, whether a limit of tokens cut an output, or whether it is all text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from drl.llm.base import Message, Request
from drl.miner._clean import is_clean_for_paper
from drl.miner._dialogues import Dialogues, Output
from drl.miner._ideal import ideal_end
from drl.miner.base import Form, Harvest, KTORow, Miner, Row, SFTRow
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role


@dataclass(kw_only=True)
class JoshPaperMiner(Miner):
    """Dialogues that reached every goal, unless anything in them holds an error.

    sft: the dialogue down to the last goal, all outputs trained. kto: each of its outputs is good;
    bad are the outputs in the last turn of each branch of the same tree that led to no reward,
    where the prompt is that of a good one. An output may come out good and bad.
    """

    forms = ("sft", "kto")

    def mine(self, harvest: Harvest, form: Form) -> Iterator[Row]:
        """The rows of one tree."""
        end = ideal_end(harvest.tree, full_success_only=True)
        if end is None:
            return
        dialogues = Dialogues(harvest)
        chat = dialogues.chat(end.id)
        played = [node.turn for node in harvest.tree.path(end.id)]
        if not is_clean_for_paper(chat.messages[1:], played):
            return
        if form == "sft":
            yield _whole(dialogues, chat, end.id)
            return
        shown = list(dialogues.places(chat.messages, end.id))
        for place, output in shown:
            yield _row(dialogues, chat, place, output, label=True)
        keys = _keys(chat.messages)
        yield from _beside(dialogues, {keys[place] for place, _ in shown})


def _whole(dialogues: Dialogues, chat: Request, end: int) -> SFTRow:
    own = enumerate(chat.messages[dialogues.after_opening :], start=dialogues.after_opening)
    trained = [i for i, message in own if message.role == "assistant"]
    return SFTRow(
        messages=chat.messages,
        trained=tuple(trained),
        tools=chat.tools,
        origin=dialogues.origin(*dialogues.along(end)),
    )


def _beside(dialogues: Dialogues, known: set[bytes]) -> Iterator[KTORow]:
    """The last turns of branches without reward, as far as their prompts are known."""
    for node_id in _ends(dialogues.harvest.tree):
        chat = dialogues.chat(node_id)
        keys = _keys(chat.messages)
        last_turn = {own.id for own in dialogues.turn(node_id)}
        for place, output in dialogues.places(chat.messages, node_id):
            if output.id in last_turn and keys[place] in known:
                yield _row(dialogues, chat, place, output, label=False)


def _ends(tree: DialogueTree) -> Iterator[int]:
    """The turns at which a node of josh-train's tree ends: cut there, over, or branching next.

    A node of it holds all turns that a branch grew by while the beam was full.
    """
    below = tree.children()
    for node in tree.nodes:
        if node.turn.role is Role.USER or node.golden or node.successful or node.continuation:
            continue
        after = [tree.nodes[child] for child in below[node.id]]
        after = [child for child in after if not child.continuation]
        branches_next = any(
            child.turn.role is Role.USER and len(below[child.id]) > 1 for child in after
        )
        is_end = node.stop is not None or len(after) != 1 or branches_next
        if is_end and node.turn.failure is None:
            yield node.id


def _row(dialogues: Dialogues, chat: Request, place: int, output: Output, *, label: bool) -> KTORow:
    return KTORow(
        prompt=chat.messages[:place],
        completion=chat.messages[place],
        label=label,
        tools=chat.tools,
        origin=dialogues.origin(output, step=output.position),
    )


def _keys(messages: Sequence[Message]) -> list[bytes]:
    """For each message a digest of all before it."""
    running = blake2b(digest_size=16)
    keys: list[bytes] = []
    for message in messages:
        keys.append(running.digest())
        running.update(f"{message!r}\n".encode())
    return keys
