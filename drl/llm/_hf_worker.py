"""The one thread that runs a model: loads it, takes jobs from any event loop, and does them.

Whatever goes wrong in it, everyone who waits is told.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import traceback
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

import torch

from drl.errors import ConfigError
from drl.llm._hf_attention import UnsupportedModelError
from drl.llm._hf_batch import Batch, PrefixBatch
from drl.llm._hf_check import sharing_forward
from drl.llm._hf_forward import PIECE
from drl.llm._hf_held import lent
from drl.llm._hf_job import Job
from drl.llm._hf_plain import PlainBatch
from drl.llm._hf_prompt import Prompts
from drl.llm._hf_text import Watch
from drl.llm._hf_tree import PrefixTree
from drl.llm.base import Completions, ContextOverflowError, OutageError, Request
from drl.models.load import Loaded

_LOG = logging.getLogger(__name__)


class Worker:
    """Runs requests on a model in a thread of its own until it is closed or breaks.

    Args:
        load: gives the model; called in the thread.
        chat_template: in Jinja, to use instead of the model's own.
        max_batch: samples under way at once.
        prefix_cache_mb: memory for what prompts and replies share, in MiB.
    """

    def __init__(
        self,
        load: Callable[[], Loaded],
        chat_template: str | None,
        max_batch: int,
        prefix_cache_mb: int,
    ) -> None:
        self._load = load
        self._chat_template = chat_template
        self._max_batch = max_batch
        self._prefix_cache_mb = prefix_cache_mb
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._unanswered: set[Job] = set()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="drl-hf", daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether it takes no jobs any more."""
        return self._is_closed

    async def complete(self, request: Request) -> Completions:
        """The samples of a request; who is cancelled takes them out of the batch."""
        assert request.seeds, "a request asks for at least one sample"
        loop = asyncio.get_running_loop()
        job = Job(request, loop, loop.create_future())
        with self._lock:
            if self._is_closed:
                raise OutageError("the in-process model was closed while it was asked")
            self._unanswered.add(job)
            self._queue.put(job)
        try:
            return await job.answer
        finally:
            job.is_cancelled = not job.answer.done() or job.answer.cancelled()
            with self._lock:
                self._unanswered.discard(job)

    def close(self) -> None:
        """End the thread, and tell who still waits. Returns once its memory is free."""
        with self._lock:
            self._is_closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        error: BaseException = OutageError("the in-process model was closed before it answered")
        try:
            self._serve()
        except BaseException as cause:
            # keys may be half written: all goes, and the next call starts afresh
            error = cause
            traceback.clear_frames(cause.__traceback__)  # else they keep the model in memory
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        with self._lock:
            self._is_closed = True
            for job in self._unanswered:
                job.fail(error)

    def _serve(self) -> None:
        loaded = self._load()
        prompts = Prompts(loaded.tokenizer, self._chat_template, loaded.context)
        with lent(loaded.model):
            self._work(self._batch(loaded), prompts)

    def _work(self, batch: Batch, prompts: Prompts) -> None:
        jobs: deque[Job] = deque()
        while self._receive(jobs, prompts, is_idle=batch.is_idle and not jobs):
            batch.admit(jobs)
            batch.step()

    def _batch(self, loaded: Loaded) -> Batch:
        watch = Watch(loaded.tokenizer, loaded.end_ids)
        try:
            forward = sharing_forward(loaded.model)
        except UnsupportedModelError as error:
            _LOG.warning(
                "%s: prompts cannot be shared in this model, so every one is computed anew, "
                "which is several times slower: %s",
                loaded.model.name_or_path,
                error,
            )
            return PlainBatch(loaded.model, watch, loaded.tokenizer, self._max_batch)
        capacity = self._prefix_cache_mb * 2**20 // forward.bytes_per_token
        tree = PrefixTree(capacity, PIECE)
        return PrefixBatch(forward, tree, watch, loaded.tokenizer, self._max_batch)

    def _receive(self, jobs: deque[Job], prompts: Prompts, *, is_idle: bool) -> bool:
        """Take in what was asked since; wait for something if there is nothing else to do.

        Returns:
            False once the worker is to end.
        """
        while is_idle or not self._queue.empty():
            job = self._queue.get()
            if job is None:
                return False
            is_idle = False
            try:
                job.start(prompts.encode(job.request))
            except (ConfigError, ContextOverflowError) as error:
                job.fail(error)
                continue
            jobs.append(job)
        return True
