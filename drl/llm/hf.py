"""Any causal language model of transformers, in this process, with all requests in one batch.

One thread owns the model. Requests of all branches and tasks grow together; the beginnings that
prompts share with each other, and with earlier prompts and replies, are computed once and kept.
Models whose prefixes cannot be shared (recurrent state, for one) run in plain batches instead,
and a warning says so.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

from drl.errors import ConfigError
from drl.llm._hf_held import Held
from drl.llm._hf_source import Source
from drl.llm.base import LLM, Completions, Request, Weights
from drl.models.chat_template import read_template
from drl.models.source import Device, DType

if TYPE_CHECKING:
    from drl.llm._hf_worker import Worker
    from drl.models.load import Loaded


class HFLLM(LLM):
    """A model from a folder, the hub, or a package.

    Log-probabilities are of the distribution that was drawn from, after temperature and filters;
    at temperature 0 of the plain softmax. `Sampled.token_ids` holds all that was drawn: also the
    token that ends the reply, and what a stop string cut off the text. A sample depends on its
    prompt, settings and seed only, but for rounding; `Usage.tokens_cached` counts the tokens of
    the prompt that were not computed for this request.

    `model`, `revision`, `adapter`, `root`, `dtype` and `device` are those of `Source`.
    """

    in_process = True
    computes = True

    def __init__(
        self,
        *,
        model: str,
        revision: str | None,
        adapter: str | None,
        root: str,
        dtype: DType,
        device: Device,
        chat_template: str | None,
        max_batch: int,
        prefix_cache_mb: int,
    ) -> None:
        if max_batch < 1:
            raise ConfigError(f"llm.max_batch={max_batch} must be at least 1; use 64")
        if prefix_cache_mb < 0:
            raise ConfigError(f"llm.prefix_cache_mb={prefix_cache_mb} must not be negative; use 0")
        self.adapter = adapter
        self._source: Source | Held = Source(model, revision, adapter, root, dtype, device)
        self._template = None if chat_template is None else read_template(chat_template)
        self._max_batch = max_batch
        self._prefix_cache_mb = prefix_cache_mb
        self._worker: Worker | None = None

    @property
    def model(self) -> str:
        """The model as the config names it."""
        return self._source.model

    @property
    def identity(self) -> Mapping[str, str]:
        """Model, fingerprints of its files and its adapter's, number format, chat template.

        Raises:
            ConfigError: the files cannot be had.
        """
        return self._identity

    @cached_property
    def _identity(self) -> Mapping[str, str]:
        template = (self._template or "").encode()
        return {
            "backend": "hf",
            **self._source.identity(),
            "chat_template": blake2b(template, digest_size=8).hexdigest() if template else "own",
        }

    def weights(self) -> Weights:
        """Where its files lie.

        Raises:
            ConfigError: they cannot be had, or there is no such device.
        """
        return self._source.weights(self._template)

    def with_weights(self, loaded: Loaded, version: str) -> HFLLM:
        """One that answers with a model in memory; what is open of this one stays as it is.

        The model is lent from the first request until `close`: in that time nobody else may run or
        change it. Then it is as it was: attention, training mode, generation config. An adapter
        counts that is built into its layers (`drl.models.adapter`). After an update of the weights,
        ask for another one: what this one remembers of prompts was computed with the old ones.

        Args:
            loaded: the model, not its PEFT wrapper, and its tokenizer.
            version: names the weights for the cache of answers; see `LLM.with_weights`.
        """
        other = copy(self)
        other.keeps_answers = False
        other._source = Held(self.model, loaded, version)
        other._worker = None
        vars(other).pop("_identity", None)
        return other

    async def complete(self, request: Request) -> Completions:
        """Samples for a request; the first one loads the model.

        Raises:
            ConfigError: the model cannot be loaded, or refuses the chat.
            ContextOverflowError: prompt and reply do not fit into the context.
            OutageError: the model broke, or was closed.
        """
        if self._worker is None or self._worker.is_closed:
            from drl.llm._hf_worker import Worker  # loads torch

            self._worker = Worker(
                self._source.load, self._template, self._max_batch, self._prefix_cache_mb
            )
            # a thread must not outlive its model, nor the interpreter
            weakref.finalize(self, self._worker.close)
        return await self._worker.complete(request)

    async def close(self) -> None:
        """End the thread and free the memory; the next call loads the model anew."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await asyncio.to_thread(worker.close)
        vars(self).pop("_identity", None)  # the files may be others by then
