"""Chats as the tokens that a model was trained to read them in: its chat template."""

from __future__ import annotations

import json

from transformers import PreTrainedTokenizerBase

from drl.errors import ConfigError
from drl.llm.base import ContextOverflowError, Message, Request
from drl.types import JSON


class Prompts:
    """Renders requests with a tokenizer's chat template.

    Args:
        tokenizer: the model's.
        template: in Jinja, to use instead of the tokenizer's own; None is its own.
        context: the model's context in tokens; None where it has no bound.

    Raises:
        ConfigError: there is no template.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, template: str | None, context: int | None
    ) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._context = context
        if self._template is None and not tokenizer.chat_template:
            raise ConfigError(
                f"llm.chat_template=null, but {tokenizer.name_or_path} has no template of its own; "
                "name a Jinja file that renders its chats, or choose an instruction-tuned model"
            )

    def encode(self, request: Request) -> tuple[int, ...]:
        """The tokens of a prompt, up to where the reply begins.

        Raises:
            ConfigError: the template refuses the messages.
            ContextOverflowError: they leave no room for the tokens asked for.
        """
        try:
            text = self._tokenizer.apply_chat_template(
                # its annotation knows plain texts only
                [_plain(message) for message in request.messages],  # pyright: ignore[reportArgumentType]
                tools=[tool.to_openai() for tool in request.tools] or None,
                chat_template=self._template,
                add_generation_prompt=True,
                tokenize=False,
            )
        except Exception as error:  # a template is code, and may raise whatever it likes
            raise ConfigError(
                "llm.chat_template: the template of "
                f"{self._tokenizer.name_or_path} refuses the chat ({error}); use another template"
            ) from error
        assert isinstance(text, str)
        writable = text.encode(errors="replace").decode()  # half a surrogate pair is no text
        ids = tuple(self._tokenizer(writable, add_special_tokens=False)["input_ids"])
        if not ids:
            raise ConfigError(
                f"llm.chat_template: the template of {self._tokenizer.name_or_path} makes nothing "
                "of the chat; use another one"
            )
        wanted = request.sampling.max_tokens
        if self._context is not None and len(ids) + wanted > self._context:
            raise ContextOverflowError(
                f"the prompt has {len(ids)} tokens and {wanted} more are asked for; the model's "
                f"context is {self._context}"
            )
        return ids


def _plain(message: Message) -> dict[str, JSON]:
    """A message in the form that templates expect: tool arguments as objects where they are."""
    plain: dict[str, JSON] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        plain["tool_call_id"] = message.tool_call_id
    return plain


def _arguments(raw: str) -> JSON:
    try:
        read = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return read if isinstance(read, dict) else raw
