"""Tokens of turns: the parts of a text between the special tokens that an encoder expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from drl.errors import ConfigError
from drl.turn_reward.text_format import TurnText

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class TurnTokens(NamedTuple):
    """The tokens of one turn, of which the response begins at `response`, separators left out.

    `is_cut` says that even the response did not fit, and lost its beginning.
    """

    ids: tuple[int, ...]
    response: int
    is_cut: bool


@dataclass(frozen=True)
class TurnTokenizer:
    """Puts special tokens around and between context and response.

    A context is cut from the left where the whole would be longer than `room`. A response is whole
    up to `longest`, which is what the encoder can take at all. With `ends_in_eos` the last token is
    the end-of-sequence token, whether or not the tokenizer puts one there itself.
    """

    tokenizer: PreTrainedTokenizerBase
    room: int
    longest: int
    ends_in_eos: bool

    def tokens(self, texts: Sequence[TurnText]) -> list[TurnTokens]:
        """The tokens of each text.

        Raises:
            ConfigError: a separator or an end is wanted that the tokenizer does not have.
        """
        before, after = self._around()
        contexts = self._plain([text.context for text in texts])
        responses = self._plain([text.response for text in texts])
        return [
            self._joined(before, context, self._between(text), response, after)
            for text, context, response in zip(texts, contexts, responses, strict=True)
        ]

    def _joined(
        self,
        before: tuple[int, ...],
        context: Sequence[int],
        between: tuple[int, ...],
        response: Sequence[int],
        after: tuple[int, ...],
    ) -> TurnTokens:
        frame = len(before) + len(between) + len(after)
        whole = response[-max(1, self.longest - frame) :]
        room = max(0, self.room - frame - len(whole))
        kept = context[len(context) - min(room, len(context)) :]
        ids = (*before, *kept, *between, *whole, *after)
        start = len(before) + len(kept) + len(between)
        return TurnTokens(ids, start, is_cut=len(whole) < len(response))

    def _plain(self, texts: list[str]) -> Sequence[Sequence[int]]:
        """Tokens of texts in which nothing is a special token, whatever people write."""
        if not texts:
            return []
        return self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, verbose=False
        )["input_ids"]

    def _between(self, text: TurnText) -> tuple[int, ...]:
        if not text.separators:
            return ()
        known = (self.tokenizer.sep_token_id, self.tokenizer.eos_token_id)
        separators = [token for token in known if isinstance(token, int)]
        if not separators:
            raise ConfigError(
                f"text_format.separators={text.separators}, but this encoder's tokenizer has "
                "neither a separator nor an end-of-sequence token; set it to 0"
            )
        return (separators[0],) * text.separators

    def _around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the tokenizer puts before and after a single text."""
        plain = self.tokenizer.encode("a", add_special_tokens=False)
        whole = self.tokenizer.encode("a")
        start = next(at for at in range(len(whole)) if whole[at : at + len(plain)] == plain)
        after = tuple(whole[start + len(plain) :])
        if self.ends_in_eos:
            end = self.tokenizer.eos_token_id
            if not isinstance(end, int):
                raise ConfigError(
                    "encoder.pooling=last_eos, but its tokenizer has no end-of-sequence token; "
                    "choose mean or last_token"
                )
            after = after if after[-1:] == (end,) else (*after, end)
        return tuple(whole[:start]), after


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Places of texts in batches of like length, at most so many tokens each with padding.

    The longest come first, so that what does not fit in memory fails at once. A text longer than
    that makes a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    batch: list[int] = []
    for place in order:
        if batch and lengths[batch[0]] * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
