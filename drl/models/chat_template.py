"""Chats as the text and tokens that a model was trained to read them in: its chat template.

Some templates are shipped, for models that have none: `plain_text` writes what the messages say
one after the other and nothing else, as models read text that were trained on nothing but text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import ConfigError
from drl.types import JSON

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


SHIPPED = ("plain_text",)
"""Templates that go by a name."""


def read_template(name: str) -> str:
    """The Jinja text of a template that is shipped, or of a file.

    Raises:
        ConfigError: it can be neither.
    """
    try:
        if name in SHIPPED:
            shipped = files("drl.models") / "templates" / f"{name}.jinja"
            return shipped.read_text(encoding="utf-8")
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"llm.chat_template={name} cannot be read ({error}); name a Jinja file, or "
            f"{' or '.join(SHIPPED)}, or null for the model's own"
        ) from error


class ChatTemplate:
    """Renders chats for one tokenizer.

    Args:
        tokenizer: the model's.
        template: in Jinja, to use instead of the tokenizer's own; None is its own.

    Raises:
        ConfigError: there is no template.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, template: str | None) -> None:
        self.tokenizer = tokenizer
        self._template = template
        if template is None and not tokenizer.chat_template:
            raise ConfigError(
                f"llm.chat_template=null, but {tokenizer.name_or_path} has no template of its own; "
                "name a Jinja file that renders its chats, or plain_text to have it go on with the "
                "text, or choose an instruction-tuned model"
            )

    def text(
        self,
        messages: Sequence[Mapping[str, JSON]],
        tools: Sequence[Mapping[str, JSON]],
        *,
        reply_follows: bool,
    ) -> str:
        """A chat as text.

        Args:
            messages: with role, content and what else OpenAI's format knows.
            tools: in OpenAI's format.
            reply_follows: end with what opens the model's reply.

        Raises:
            ConfigError: the template refuses the messages.
        """
        try:
            text = self.tokenizer.apply_chat_template(
                # its annotation knows plain texts only
                [dict(message) for message in messages],  # pyright: ignore[reportArgumentType]
                tools=[dict(tool) for tool in tools] or None,
                chat_template=self._template,
                add_generation_prompt=reply_follows,
                tokenize=False,
            )
        except Exception as error:  # a template is code, and may raise whatever it likes
            raise ConfigError(
                f"llm.chat_template: the template of {self.tokenizer.name_or_path} refuses the "
                f"chat ({error}); use another template"
            ) from error
        assert isinstance(text, str)
        return text

    def ids(self, text: str) -> tuple[int, ...]:
        """The tokens of rendered text; the template has written all special ones itself."""
        writable = text.encode(errors="replace").decode()  # half a surrogate pair is no text
        return tuple(self.tokenizer(writable, add_special_tokens=False)["input_ids"])

    @property
    def end_id(self) -> int:
        """The token that ends a text.

        Raises:
            ConfigError: the tokenizer knows none.
        """
        end = self.tokenizer.eos_token_id
        if not isinstance(end, int):
            raise ConfigError(
                f"llm.model={self.tokenizer.name_or_path}: its tokenizer has no eos_token, so "
                "nothing can teach where a reply ends; set one in tokenizer_config.json"
            )
        return end
