"""TextRL's `merge_adapter`: an adapter and its base as one checkpoint, by `drl merge`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from drl.errors import ConfigError, DataError
from drl.finetune.merge import DType, check_adapter, merge
from drl.llm.hf import HFLLM
from drl.models.adapter import ADAPTER_CONFIG


def merge_adapter(
    adapter_dir: str,
    output_dir: str,
    base_model: str | None = None,
    torch_dtype: DType | Literal["auto"] = "auto",
    trust_remote_code: bool = False,
) -> str:
    """Write a causal model that answers as base and adapter do; gives its folder.

    It is loaded again and held against the two before it appears, as `drl merge` does.

    Args:
        adapter_dir: a folder as PEFT saves it.
        output_dir: a folder that is not there yet.
        base_model: what the adapter was trained on, where it is not what its config names.
        torch_dtype: of the numbers written; auto is float32, in which nothing is rounded.
        trust_remote_code: must be False: `drl` runs no code from the hub.

    Raises:
        ConfigError: base and adapter do not belong together, or cannot be had.
        DataError: the adapter cannot be read, or the sum answers otherwise.
        RunError: the folder is taken.
    """
    if trust_remote_code:
        raise ConfigError("trust_remote_code=True: no code from the hub is run; leave it out")
    dtype = "float32" if torch_dtype == "auto" else torch_dtype
    if dtype not in get_args(DType):
        raise ConfigError(f"torch_dtype={torch_dtype} must be auto, {' or '.join(get_args(DType))}")
    adapter = Path(adapter_dir)
    check_adapter(adapter)
    llm = HFLLM(
        model=base_model or _base_of(adapter),
        revision=None,
        adapter=None,
        root="data",
        dtype="float32",
        device="auto",
        chat_template=None,
        max_batch=1,
        prefix_cache_mb=0,
    )
    merge(replace(llm.weights(), adapter=adapter), Path(output_dir), dtype, force=False)
    return output_dir


def _base_of(adapter: Path) -> str:
    file = adapter / ADAPTER_CONFIG
    try:
        name = json.loads(file.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file} names no base; name it as base_model") from error
    return str(name)
