"""Where a model's files come from: a folder, the Hugging Face hub, or a package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import ConfigError
from drl.llm import _hf_packaged
from drl.llm.base import Weights
from drl.models.source import Device, DType, fingerprint, locate, resolve_device, resolve_dtype
from drl.runtime.stored_run import StoredRun

if TYPE_CHECKING:
    from drl.models.load import Loaded


@dataclass(frozen=True, slots=True)
class Source:
    """A model as settings name it.

    `model` is a folder, an id on the hub (at `revision`), or package:NAME, which is unpacked below
    `root`. `adapter` is a folder or id of an adapter for it in PEFT's layout, or a run that
    trained one.
    """

    model: str
    revision: str | None
    adapter: str | None
    root: str
    dtype: DType
    device: Device

    def identity(self) -> Mapping[str, str]:
        """What decides what it answers.

        Raises:
            ConfigError: the files cannot be had, there is no such device, or the run that is named
                as adapter has none.
        """
        adapter = self._adapter_folder()
        return {
            "model": self.model,
            "weights": fingerprint(self._folder()),
            "adapter": "none" if adapter is None else fingerprint(adapter),
            "dtype": resolve_dtype(self.dtype, resolve_device("llm.device", self.device)),
        }

    def load(self) -> Loaded:
        """The model and its tokenizer.

        Raises:
            ConfigError: the files cannot be had, are no causal model, or do not belong together.
        """
        from drl.models.load import load

        weights = self.weights(None)
        return load(weights.folder, weights.adapter, weights.dtype, weights.device)

    def weights(self, chat_template: str | None) -> Weights:
        """Where the files lie, and in what form they are to be used.

        Raises:
            ConfigError: the files cannot be had, or there is no such device.
        """
        device = resolve_device("llm.device", self.device)
        return Weights(
            self._folder(),
            self._adapter_folder(),
            resolve_dtype(self.dtype, device),
            device,
            chat_template,
        )

    def _folder(self) -> Path:
        if self.model.startswith(_hf_packaged.PREFIX):
            name = self.model.removeprefix(_hf_packaged.PREFIX)
            return _hf_packaged.unpacked(name, Path(self.root).expanduser())
        return locate("llm.model", self.model, self.revision)

    def _adapter_folder(self) -> Path | None:
        if self.adapter is None:
            return None
        folder = locate(
            "llm.adapter", self.adapter, None, "the folder of a finished training, or of an adapter"
        )
        run = StoredRun(folder)
        if not run.is_one:
            return folder
        if run.adapter is None:
            raise ConfigError(f"llm.adapter={self.adapter} {run.why_no_adapter()}")
        return run.adapter
