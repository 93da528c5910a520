"""Watches growing samples: when a token, a stop string or the length ends one."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

from drl.llm._hf_job import Sample, decode

_SLACK = 8
"""Tokens before a stop string that are decoded with it: bytes of a split character, say."""


class Watch:
    """Takes drawn tokens into samples and ends them.

    Args:
        tokenizer: the model's.
        end_ids: tokens that end a reply.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, end_ids: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self._end_ids = end_ids
        self._silent = frozenset(tokenizer.all_special_ids)

    def take(self, sample: Sample, token: int, log_prob: float) -> bool:
        """Add a token; whether the sample has come to its end."""
        sample.token_ids.append(token)
        sample.log_probs.append(log_prob)
        sampling = sample.job.request.sampling
        if token in self._end_ids:
            sample.finish_reason = "stop"
            sample.text = decode(self._tokenizer, sample.token_ids[:-1])
        elif sampling.stop and (text := self._before_stop(sample, sampling.stop)) is not None:
            sample.finish_reason = "stop"
            sample.text = text
        elif len(sample.token_ids) >= sampling.max_tokens:
            sample.finish_reason = "length"
        return sample.finish_reason is not None

    def _before_stop(self, sample: Sample, stops: tuple[str, ...]) -> str | None:
        """The text before the first stop string, if there is one.

        A stop string that has just been completed lies in the last tokens, since each of them that
        is not silent stands for a byte or more: so only those are decoded every time.
        """
        heard = [token for token in sample.token_ids if token not in self._silent]
        longest = max(len(stop.encode()) for stop in stops)
        recent = decode(self._tokenizer, heard[-(longest + _SLACK) :])
        if not any(stop in recent for stop in stops):
            return None
        text = decode(self._tokenizer, sample.token_ids)
        places = [place for stop in stops if (place := text.find(stop)) >= 0]
        return text[: min(places)] if places else None
