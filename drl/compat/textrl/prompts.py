"""Prompts as the tokens that a model reads, and whether an answer fits behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drl.compat.textrl._reward_base import Text
from drl.errors import DataError
from drl.models.chat_template import ChatTemplate

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase


def prompt_ids(tokenizer: PreTrainedTokenizerBase, prompt: Text) -> list[int]:
    """The tokens of a text, or of a chat up to where the assistant's message begins.

    Raises:
        ConfigError: the tokenizer has no chat template, or it refuses the chat.
    """
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    template = ChatTemplate(tokenizer, None)
    return list(template.ids(template.text(prompt, [], reply_follows=True)))


def check_fits(config: PreTrainedConfig, row: int, num_prompt: int, num_answer: int) -> None:
    """Refuse a prompt whose answer may not fit into a model's context.

    Args:
        config: the model's; one without positions that end has no bound.
        row: for the message.
        num_prompt: tokens of the prompt.
        num_answer: tokens of the longest answer.

    Raises:
        DataError: the two are longer than the context.
    """
    longest = config.get_text_config().to_dict().get("max_position_embeddings")
    if longest is not None and num_prompt + num_answer > longest:
        raise DataError(
            f"row {row}: a prompt of {num_prompt} tokens and an answer of {num_answer} do not fit "
            f"into the model's context of {longest}; leave the row out, or allow shorter answers"
        )
