"""Runs models whose prefixes cannot be shared: padded batches through transformers' `generate`.

Settings, seeds, stop strings and results are the same as in `_hf_batch`; only the work is not
shared, and a batch runs to its end before the next one starts.
"""

from __future__ import annotations

from collections import deque

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    GenerationMixin,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteria,
    StoppingCriteriaList,
)

from drl.llm._hf_batch import Batch, next_draw
from drl.llm._hf_job import Job, Sample
from drl.llm._hf_sampler import draw
from drl.llm._hf_text import Watch


class PlainBatch(Batch):
    """Grows samples in padded batches, each to its end.

    Args:
        model: any causal model.
        watch: ends samples.
        tokenizer: the model's.
        max_batch: samples in a batch.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        watch: Watch,
        tokenizer: PreTrainedTokenizerBase,
        max_batch: int,
    ) -> None:
        assert isinstance(model, GenerationMixin), "the auto class for causal models loads no other"
        self._model = model
        model.generation_config = GenerationConfig()  # its defaults would change what is drawn
        self._watch = watch
        self._tokenizer = tokenizer
        self._max_batch = max_batch
        self._samples: list[Sample] = []

    @property
    def is_idle(self) -> bool:
        """Whether no batch is ready to run."""
        return not self._samples

    def admit(self, jobs: deque[Job]) -> None:
        """Fill a batch."""
        while jobs and len(self._samples) < self._max_batch:
            job = jobs[0]
            if job.is_cancelled:
                job.waiting.clear()
            else:
                self._samples.append(job.waiting.pop())
                job.under_way += 1
            if not job.waiting:
                jobs.popleft()

    def step(self) -> None:
        """Run the batch to its end, and deliver jobs that are done."""
        samples, self._samples = self._samples, []
        if not samples:
            return
        prompts = [sample.job.prompt_ids for sample in samples]
        longest = max(map(len, prompts))
        pads = [longest - len(prompt) for prompt in prompts]
        ids = [[0] * pad + list(prompt) for pad, prompt in zip(pads, prompts, strict=True)]
        mask = [[0] * pad + [1] * (longest - pad) for pad in pads]
        device = self._model.device
        drawing = _Drawing(samples, self._watch)
        with torch.inference_mode():
            self._model.generate(  # pyright: ignore[reportAttributeAccessIssue] by its protocol
                input_ids=torch.tensor(ids, device=device),
                attention_mask=torch.tensor(mask, device=device),
                generation_config=GenerationConfig(
                    do_sample=False,
                    max_new_tokens=max(s.job.request.sampling.max_tokens for s in samples),
                    pad_token_id=0,
                ),
                logits_processor=LogitsProcessorList([drawing]),
                stopping_criteria=StoppingCriteriaList([_Ended(samples)]),
            )
        for sample in samples:
            sample.job.under_way -= 1
            if sample.job.is_done and not sample.job.is_cancelled:
                sample.job.deliver(self._tokenizer)


class _Drawing(LogitsProcessor):
    """Draws the next tokens, and leaves `generate` no other choice."""

    def __init__(self, samples: list[Sample], watch: Watch) -> None:
        self._samples = samples
        self._watch = watch

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        rows = [row for row, sample in enumerate(self._samples) if not _has_ended(sample)]
        drawn = draw(scores[rows], [next_draw(self._samples[row]) for row in rows])
        forced = torch.full_like(scores, float("-inf"))
        forced[:, 0] = 0.0
        for row, token, log_prob in zip(rows, *drawn, strict=True):
            self._watch.take(self._samples[row], token, log_prob)
            forced[row, 0] = float("-inf")
            forced[row, token] = 0.0
        return forced


class _Ended(StoppingCriteria):
    def __init__(self, samples: list[Sample]) -> None:
        self._samples = samples

    def __call__(self, input_ids: Tensor, scores: object, **settings: object) -> torch.BoolTensor:
        ended = [_has_ended(sample) for sample in self._samples]
        return torch.tensor(ended, device=input_ids.device)  # pyright: ignore[reportReturnType]


def _has_ended(sample: Sample) -> bool:
    return sample.finish_reason is not None or sample.job.is_cancelled
