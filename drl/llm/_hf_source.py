"""Where a model's files come from: a folder, the Hugging Face hub, or a package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from drl.errors import ConfigError
from drl.llm import _hf_packaged
from drl.llm.base import Weights
from drl.runtime.stored_run import StoredRun

if TYPE_CHECKING:
    from drl.models.load import Loaded

DType = Literal["auto", "bfloat16", "float32"]
Device = Literal["auto", "cpu", "cuda"]

_SUFFIXES = {".json", ".safetensors", ".model", ".txt", ".jinja"}
_TIMEOUT_S = 5.0  # to reach the hub before its absence is reported
_SPREAD = 64  # places of a weight file that go into its fingerprint
_CHUNK = 1 << 16


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
            "weights": _fingerprint(self._folder()),
            "adapter": "none" if adapter is None else _fingerprint(adapter),
            "dtype": _resolve_dtype(self.dtype, _resolve_device(self.device)),
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
        device = _resolve_device(self.device)
        return Weights(
            self._folder(),
            self._adapter_folder(),
            _resolve_dtype(self.dtype, device),
            device,
            chat_template,
        )

    def _folder(self) -> Path:
        if self.model.startswith(_hf_packaged.PREFIX):
            name = self.model.removeprefix(_hf_packaged.PREFIX)
            return _hf_packaged.unpacked(name, Path(self.root).expanduser())
        return _locate("llm.model", self.model, self.revision)

    def _adapter_folder(self) -> Path | None:
        if self.adapter is None:
            return None
        folder = _locate("llm.adapter", self.adapter, None)
        run = StoredRun(folder)
        if not run.is_one:
            return folder
        if run.adapter is None:
            raise ConfigError(f"llm.adapter={self.adapter} {run.why_no_adapter()}")
        return run.adapter


def _locate(key: str, name: str, revision: str | None) -> Path:
    """The folder of a model or adapter, fetched from the hub if it is the id of one.

    Args:
        key: the setting that names it, for messages.
        name: a folder, or an id like `Qwen/Qwen3-0.6B`.
        revision: branch, tag or commit on the hub; None is its main branch.

    Raises:
        ConfigError: there is neither such a folder nor, within seconds, such a model on the hub.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return Path(
            snapshot_download(
                name,
                revision=revision,
                allow_patterns=[f"*{suffix}" for suffix in _SUFFIXES],
                etag_timeout=_TIMEOUT_S,
            )
        )
    except (OSError, HfHubHTTPError, HFValidationError) as error:
        cause = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"{key}={name} is no folder here and cannot be had from the hub"
            f"{'' if revision is None else f' at revision {revision}'} ({cause}); "
            "name a folder with config.json and *.safetensors, or an id on the hub"
        ) from error


def _fingerprint(folder: Path) -> str:
    """A hash of a folder's weights and settings that is quick to take.

    Of each weight file its size and 64 places spread over it count: training changes all of it.
    """
    digest = blake2b(digest_size=8)
    for file in sorted(folder.iterdir()):
        if file.suffix in _SUFFIXES:
            digest.update(f"{file.name} {file.stat().st_size}".encode())
            with file.open("rb") as opened:
                for place in _places(file.stat().st_size):
                    opened.seek(place)
                    digest.update(opened.read(_CHUNK))
    return digest.hexdigest()


def _resolve_device(device: Device) -> Literal["cpu", "cuda"]:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("llm.device=cuda, but torch finds no GPU here; use auto or cpu")
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


def _resolve_dtype(dtype: DType, device: str) -> Literal["bfloat16", "float32"]:
    """For auto, bfloat16 on GPUs and on CPUs that multiply in it."""
    import torch

    if dtype != "auto":
        return dtype
    if device == "cuda":
        return "bfloat16"
    able = torch.cpu.get_capabilities()
    is_good = any(able.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))
    return "bfloat16" if is_good else "float32"


def _places(size: int) -> range:
    """Where the pieces of a file begin that stand for it; all of it if it is small."""
    step = max(_CHUNK, size // _SPREAD)
    return range(0, size, step)
