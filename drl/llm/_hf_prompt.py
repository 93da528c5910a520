"""Requests as the tokens of their prompts, where these fit into the model's context."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

from drl.errors import ConfigError
from drl.llm.base import ContextOverflowError, Request, chat_text
from drl.models.chat_template import ChatTemplate


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
        self._template = ChatTemplate(tokenizer, template)
        self._context = context

    def encode(self, request: Request) -> tuple[int, ...]:
        """The tokens of a prompt, up to where the reply begins.

        Raises:
            ConfigError: the template refuses the messages.
            ContextOverflowError: they leave no room for the tokens asked for.
        """
        text = chat_text(self._template, request.messages, request.tools, reply_follows=True)
        ids = self._template.ids(text)
        if not ids:
            raise ConfigError(
                "llm.chat_template: the template of "
                f"{self._template.tokenizer.name_or_path} makes nothing of the chat; use another "
                "one"
            )
        wanted = request.sampling.max_tokens
        if self._context is not None and len(ids) + wanted > self._context:
            raise ContextOverflowError(
                f"the prompt has {len(ids)} tokens and {wanted} more are asked for; the model's "
                f"context is {self._context}"
            )
        return ids
