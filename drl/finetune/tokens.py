"""Chats as training tokens: which of them the agent would have sampled, for any chat template.

A template says nothing about who wrote what, so nothing is guessed from its text. The prompt of an
output is rendered exactly as it is for inference; the output is what the template puts after it, up
to and including the token that ends a reply. Outputs of one dialogue share a sequence only where
the next prompt extends the tokens so far exactly; templates that rewrite earlier turns therefore
give several sequences, each output trained once after the very prompt it is sampled from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drl.errors import ConfigError
from drl.llm.base import Message, chat_text
from drl.models.chat_template import ChatTemplate
from drl.types import ToolSpec

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StepTokens:
    """A prompt, and the output that follows it with the token that ends it."""

    prompt_ids: Ids
    completion_ids: Ids

    def __len__(self) -> int:
        """Tokens in all."""
        return len(self.prompt_ids) + len(self.completion_ids)


@dataclass(frozen=True, slots=True)
class TrainTokens:
    """A sequence; `is_trained` is True where the agent sampled the token."""

    ids: Ids
    is_trained: tuple[bool, ...]

    def __len__(self) -> int:
        """Tokens in all."""
        return len(self.ids)

    def cut(self, longest: int) -> TrainTokens | None:
        """The beginning that fits, up to the end of a whole output; None if none fits."""
        ends = [
            place
            for place in range(1, min(len(self), longest) + 1)
            if self.is_trained[place - 1] and (place == len(self) or not self.is_trained[place])
        ]
        if not ends:
            return None
        return TrainTokens(self.ids[: ends[-1]], self.is_trained[: ends[-1]])


class ChatTokens:
    """Makes training tokens with one model's template.

    Args:
        template: the model's, as inference uses it.
        end_ids: the tokens that end a reply at inference.
    """

    def __init__(self, template: ChatTemplate, end_ids: frozenset[int]) -> None:
        self._template = template
        self._end_ids = end_ids

    def step(
        self, prompt: Sequence[Message], completion: Message, tools: Sequence[ToolSpec]
    ) -> StepTokens:
        """One output after its prompt.

        Raises:
            ConfigError: the template refuses the chat, or hides the output in it.
        """
        before = chat_text(self._template, prompt, tools, reply_follows=True)
        after = chat_text(self._template, [*prompt, completion], tools, reply_follows=False)
        prompt_ids = self._template.ids(before)
        if after.startswith(before):
            text = after[len(before) :]
        else:
            border = self._border(prompt, tools, before, after)
            text = completion.content if border is None else after[border:]
        hidden = [call.name for call in completion.tool_calls if call.name not in text]
        if hidden:
            raise ConfigError(
                f"llm.chat_template: the template of {self._template.tokenizer.name_or_path} does "
                f"not write the call of {hidden[0]} where the reply begins, so it cannot be "
                "learned; use one that does, or agent=react, which calls tools in its text"
            )
        if not completion.tool_calls and completion.content.strip() not in text:
            text = completion.content  # with thoughts, say, that the template drops
        whole_ids = self._template.ids(before + text)
        if whole_ids[: len(prompt_ids)] == prompt_ids:
            output = whole_ids[len(prompt_ids) :]
        else:  # tokens merge across the border, which sampling cannot
            output = self._template.ids(text)
        return StepTokens(prompt_ids, self._ended(output))

    def dialogue(
        self, messages: Sequence[Message], trained: Sequence[int], tools: Sequence[ToolSpec]
    ) -> list[TrainTokens]:
        """A dialogue as few sequences as its template allows.

        Args:
            messages: from the system prompt on.
            trained: positions of the agent's messages that are to be learned.
            tools: on offer.

        Raises:
            ConfigError: as `step`.
        """
        found: list[TrainTokens] = []
        ids: Ids = ()
        mask: tuple[bool, ...] = ()
        for position in sorted(trained):
            step = self.step(messages[:position], messages[position], tools)
            if step.prompt_ids[: len(ids)] != ids:
                found.append(TrainTokens(ids, mask))
                mask = ()
            new = len(step.prompt_ids) - len(mask)
            mask += (False,) * new + (True,) * len(step.completion_ids)
            ids = step.prompt_ids + step.completion_ids
        return [*found, TrainTokens(ids, mask)] if ids else found

    def _border(
        self, prompt: Sequence[Message], tools: Sequence[ToolSpec], before: str, after: str
    ) -> int | None:
        """Where the output begins in a chat that is rendered otherwise than its prompt was.

        Mistral's template, for one, moves the system prompt into the last message. The output
        begins where the chat parts from the same chat with another output, or at white space before
        it, if what stands there is how the prompt ends; None if that is not so.
        """
        closed = chat_text(self._template, prompt, tools, reply_follows=False)
        ending = before[_num_common(before, closed) :]
        if not ending:  # nothing opens a reply: go by the last token
            ending = str(self._template.tokenizer.decode(list(self._template.ids(before)[-1:])))
        border = min(
            _num_common(
                after,
                chat_text(
                    self._template,
                    [*prompt, Message("assistant", other)],
                    tools,
                    reply_follows=False,
                ),
            )
            for other in ("0", "1")  # it cannot begin as both do
        )
        while border and not after[:border].endswith(ending) and after[border - 1].isspace():
            border -= 1
        return border if after[:border].endswith(ending) else None

    def _ended(self, output: Ids) -> Ids:
        """Up to the first token that ends a reply; with one where the template writes none."""
        for place, token in enumerate(output):
            if token in self._end_ids:
                return output[: place + 1]
        return (*output, self._template.end_id)


def _num_common(some: str, other: str) -> int:
    """Characters with which both begin."""
    pairs = enumerate(zip(some, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(some), len(other)))
