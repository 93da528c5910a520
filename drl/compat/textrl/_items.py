"""Items that TextRL's programs hand to an environment, and the tokens that a model reads of them.

An item is a dict with the key `input`; a plain text; or, as before March 2023, a list that begins
with the text. Whatever else it holds is for the reward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drl.compat.textrl._language_model import vocabulary_of
from drl.errors import ConfigError
from drl.models.load import context_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SHOWN = 200
"""Letters of a prompt or text that a message repeats."""


def wrapped(item: object) -> Any:
    """A plain text as a dict; anything else as it is."""
    return {"input": item} if isinstance(item, str) else item


def text_of(item: object) -> str:
    """The prompt of an item.

    Raises:
        ConfigError: there is none in it.
    """
    text: object = item
    if isinstance(item, Mapping):
        text = item.get("input")
    elif isinstance(item, Sequence) and not isinstance(item, str):
        text = item[0] if item else None
    if not isinstance(text, str):
        raise ConfigError(
            f"observation_input: {shortened(repr(item))} holds no prompt; write "
            "{'input': 'the prompt', ...}"
        )
    return text


def tokens_of(
    text: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> tuple[int, ...]:
    """What a model reads of a prompt.

    An encoder gets the tokenizer's special tokens around it; a causal model, which goes on with the
    text, does not. Where the text is empty, it goes on from the token that begins texts.

    Raises:
        ConfigError: it is no text, there is nothing to read, or a token that the model does not
            know.
    """
    if not isinstance(text, str) or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ConfigError(
            f"observation_input: the prompt {shortened(repr(text))} is no text, or holds half of a "
            "letter (a surrogate), which no tokenizer reads; decode it with errors='replace'"
        )
    ids = tokenizer(text, add_special_tokens=bool(model.config.is_encoder_decoder))["input_ids"]
    assert isinstance(ids, list), "one text was given"
    if not ids:
        first = [tokenizer.bos_token_id, tokenizer.eos_token_id]
        ids = [token for token in first if isinstance(token, int)][:1]
    if not ids:
        raise ConfigError(
            "observation_input: a prompt is empty, and the tokenizer has no token that begins "
            "texts; write something"
        )
    if max(ids) >= vocabulary_of(model):
        raise ConfigError(
            f"observation_input: token {max(ids)} of the prompt {shortened(text)!r} is not among "
            f"the model's {vocabulary_of(model)}; call "
            "model.resize_token_embeddings(len(tokenizer))"
        )
    return tuple(ids)


def check_room(text: str, ids: Sequence[int], model: PreTrainedModel, num_new: int) -> None:
    """Refuse a prompt that leaves no room for the text.

    Raises:
        ConfigError: with what there is and what is needed.
    """
    context = context_of(model)
    if context is None:
        return
    needed = max(len(ids), num_new) if model.config.is_encoder_decoder else len(ids) + num_new
    if needed > context:
        raise ConfigError(
            f"observation_input: the prompt {shortened(text)!r} has {len(ids)} tokens and "
            f"max_length lets {num_new} follow, but {type(model).__name__} reads at most "
            f"{context}; shorten the prompt, or lower max_length"
        )


def shortened(text: str) -> str:
    """The beginning of a text, for a message."""
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
