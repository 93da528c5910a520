"""What runs samples on a model: takes jobs in, steps, and delivers those that are done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque

from transformers import PreTrainedTokenizerBase

from drl.llm._hf_forward import Forward, parts_of
from drl.llm._hf_job import Job, Sample
from drl.llm._hf_rows import Row, RowBuffers
from drl.llm._hf_sampler import Draw, draw
from drl.llm._hf_text import Watch
from drl.llm._hf_tree import Node, PrefixTree


class Batch(ABC):
    """Samples under way."""

    @property
    @abstractmethod
    def is_idle(self) -> bool:
        """Whether nothing is under way."""

    @abstractmethod
    def admit(self, jobs: deque[Job]) -> None:
        """Start as many samples as fit; jobs that have none left are taken out."""

    @abstractmethod
    def step(self) -> None:
        """Go on with what is under way, and deliver jobs that are done."""


class PrefixBatch(Batch):
    """Grows all samples together; what they share, and what came before, is computed once.

    Args:
        forward: runs the model.
        tree: what is kept.
        watch: ends samples.
        tokenizer: the model's.
        max_batch: samples under way at once.
    """

    def __init__(
        self,
        forward: Forward,
        tree: PrefixTree,
        watch: Watch,
        tokenizer: PreTrainedTokenizerBase,
        max_batch: int,
    ) -> None:
        self._forward = forward
        self._tree = tree
        self._watch = watch
        self._tokenizer = tokenizer
        self._max_batch = max_batch
        self._rows = RowBuffers(forward.nothing)
        self._samples: dict[Row, Sample] = {}
        self._leaves: dict[Job, Node] = {}

    @property
    def is_idle(self) -> bool:
        """Whether no row grows."""
        return not len(self._rows)

    def admit(self, jobs: deque[Job]) -> None:
        """Start samples while there is room for rows, and for their prompts in the tree."""
        starting: dict[Job, list[Sample]] = {}
        room = self._max_batch - len(self._rows)
        while jobs and room:
            job = jobs[0]
            if job.is_cancelled:
                job.waiting.clear()
                self._settle(job)
            elif job in self._leaves or self._open(job, is_alone=self.is_idle and not starting):
                first = min(room, len(job.waiting))
                starting[job] = [job.waiting.pop() for _ in range(first)]
                room -= first
            else:
                break
            if not job.waiting:
                jobs.popleft()
        self._forward.compute([node for job in starting for node in self._leaves[job].path()])
        for job, samples in starting.items():
            self._start(job, samples)

    def step(self) -> None:
        """One more token for each row."""
        for row in self._rows.ordered():
            if self._samples[row].job.is_cancelled:
                self._end(row)
        if self.is_idle:
            return
        rows, logits = self._forward.step(self._rows)
        drawn = draw(logits, [next_draw(self._samples[row]) for row in rows])
        for row, token, log_prob in zip(rows, *drawn, strict=True):
            row.token = token
            if self._watch.take(self._samples[row], token, log_prob):
                self._end(row)

    def _open(self, job: Job, *, is_alone: bool) -> bool:
        """Lock a job's prompt in the tree; whether it fits. What is alone always does."""
        prompt = job.prompt_ids[:-1]
        leaf, new = self._tree.open(prompt, job.request.n)
        if not is_alone and not self._tree.fits():
            self._tree.withdraw(leaf, job.request.n)
            return False
        self._tree.make_room()
        job.tokens_cached = len(prompt) - new
        self._leaves[job] = leaf
        return True

    def _start(self, job: Job, samples: list[Sample]) -> None:
        shared, tails = parts_of(self._leaves[job].path())
        tail = tails[0] if tails else None
        length = 0 if tail is None else len(tail.positions)
        for sample in samples:
            row = Row(
                shared=shared,
                token=job.prompt_ids[-1],
                position=len(job.prompt_ids) - 1,
                tail=length,
                used=length,
            )
            self._rows.put(row, tail)
            self._samples[row] = sample
            job.under_way += 1

    def _end(self, row: Row) -> None:
        """Keep what the row has computed: the next turn of the dialogue starts with it."""
        sample = self._samples.pop(row)
        job = sample.job
        stored = self._rows.take(row, row.tail)
        read = (job.prompt_ids[-1], *sample.token_ids)[: row.used - row.tail]
        self._tree.add(self._leaves[job], read, stored)
        self._tree.make_room()
        job.under_way -= 1
        self._settle(job)

    def _settle(self, job: Job) -> None:
        """Deliver a job that is done, and unlock its prompt."""
        if not job.is_done:
            return
        leaf = self._leaves.pop(job, None)
        if leaf is not None:
            self._tree.close(leaf, job.request.n)
            self._tree.make_room()
        if not job.is_cancelled:
            job.deliver(self._tokenizer)


def next_draw(sample: Sample) -> Draw:
    return Draw(sample.job.request.sampling, sample.seed, len(sample.token_ids))
