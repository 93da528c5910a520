"""A request inside the engine, its samples as they grow, and the answer they make.

Two models of one process may sit on different event loops: a job remembers whose it is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from transformers import PreTrainedTokenizerBase

from drl.errors import DrlError
from drl.llm._hf_tool_calls import read_tool_calls
from drl.llm.base import Completion, Completions, FinishReason, OutageError, Request, Usage
from drl.types import Sampled


@dataclass(slots=True, eq=False)
class Job:
    """A request, who waits for it, and its samples."""

    request: Request
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Completions]
    asked_at: float = field(default_factory=time.perf_counter)
    prompt_ids: tuple[int, ...] = ()
    tokens_cached: int = 0
    is_cancelled: bool = False
    samples: list[Sample] = field(default_factory=list)
    waiting: list[Sample] = field(default_factory=list)
    """Samples that are not under way yet, the next one last."""
    under_way: int = 0

    def start(self, prompt_ids: tuple[int, ...]) -> None:
        """Fill in what only the engine's thread can tell: the prompt's tokens."""
        self.prompt_ids = prompt_ids
        self.samples = [Sample(self, seed) for seed in self.request.seeds]
        self.waiting = self.samples[::-1]

    @property
    def is_done(self) -> bool:
        """Whether nothing of it is under way or to come."""
        return not self.waiting and not self.under_way

    def deliver(self, tokenizer: PreTrainedTokenizerBase) -> None:
        """Hand the samples to whoever asked."""
        choices = tuple(_completion(sample, tokenizer) for sample in self.samples)
        usage = Usage(
            tokens_in=len(self.prompt_ids),
            tokens_cached=self.tokens_cached,
            tokens_out=sum(len(sample.token_ids) for sample in self.samples),
        )
        seconds = time.perf_counter() - self.asked_at
        done = Completions(choices, usage, seconds)
        self._call(lambda: self.answer.done() or self.answer.set_result(done))

    def fail(self, error: BaseException) -> None:
        """Tell whoever asked what went wrong; an error that is not drl's own is an outage."""
        own = _own(error)
        self._call(lambda: self.answer.done() or self.answer.set_exception(own))

    def _call(self, callback: object) -> None:
        assert callable(callback)
        if not self.loop.is_closed():  # else nobody waits any more
            self.loop.call_soon_threadsafe(callback)


@dataclass(slots=True, eq=False)
class Sample:
    """One continuation of a job's prompt as it grows."""

    job: Job
    seed: int
    token_ids: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    text: str | None = None
    """Its text where that ends before the last token."""


def _own(error: BaseException) -> DrlError:
    """A fresh error for each who waits: one raised in several places mixes up its traces."""
    if isinstance(error, DrlError):
        fresh = type(error)(*error.args)
        fresh.__cause__ = error.__cause__
        return fresh
    outage = OutageError(f"the in-process model broke: {type(error).__name__}: {error}")
    outage.__cause__ = error
    return outage


def _completion(sample: Sample, tokenizer: PreTrainedTokenizerBase) -> Completion:
    request = sample.job.request
    text = decode(tokenizer, sample.token_ids) if sample.text is None else sample.text
    calls = ()
    if request.tools and request.tool_choice == "auto":
        text, calls = read_tool_calls(text)
    assert sample.finish_reason is not None
    return Completion(
        text=text,
        finish_reason="tool_calls" if calls else sample.finish_reason,
        tool_calls=calls,
        sampled=Sampled(sample.job.prompt_ids, tuple(sample.token_ids), tuple(sample.log_probs)),
    )


def decode(tokenizer: PreTrainedTokenizerBase, token_ids: Sequence[int]) -> str:
    """The text of tokens but for special ones; U+FFFD stands where it is not UTF-8."""
    text = tokenizer.decode(
        list(token_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
    assert isinstance(text, str)
    return text.encode(errors="replace").decode()
