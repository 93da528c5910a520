"""`drl merge`: an adapter and its base as one checkpoint that stands alone."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drl.cli._runs import newest
from drl.errors import ConfigError, DataError, RunError
from drl.llm.base import LLM, Weights
from drl.models.adapter import ADAPTER_CONFIG
from drl.runtime.run_dir import ADAPTER_OF_RUN
from drl.runtime.stored_run import StoredRun

if TYPE_CHECKING:
    from drl.types import JSON


class _DType(StrEnum):
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


def merge(
    run: Annotated[Path, typer.Argument(help="A run that trained an adapter, or its folder.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write.")],
    base: Annotated[
        str | None,
        typer.Option("--base", help="The model it was trained on, as llm.model names it."),
    ] = None,
    dtype: Annotated[
        _DType, typer.Option("--dtype", help="bfloat16 takes half the room, and rounds.")
    ] = _DType.FLOAT32,
    force: Annotated[bool, typer.Option("--force", help="Replace another checkpoint.")] = False,
) -> None:
    """Write a checkpoint that answers as a run's adapter does, for llm=hf llm.model=DIR.

    It is loaded again and held against base and adapter on fixed prompts before it appears in DIR.
    """
    import json
    from dataclasses import asdict, replace

    from drl.finetune.merge import check_adapter
    from drl.finetune.merge import merge as merge_into

    adapter = _adapter_of(run)
    check_adapter(adapter)
    weights = replace(_base_of(run, adapter, base), adapter=adapter)
    done = merge_into(weights, out, dtype.value, force=force)
    if done.logit_difference >= done.adapter_change:
        print(
            f"warning: rounding moves logits by up to {done.logit_difference:.2g}, the adapter "
            f"only by {done.adapter_change:.2g}, so little of it is left; --dtype float32 keeps it",
            file=sys.stderr,
        )
    names = {"folder": out, "base": weights.folder, "adapter": adapter}
    print(json.dumps({key: str(path) for key, path in names.items()} | asdict(done)))


def _adapter_of(run: Path) -> Path:
    """The folder of a run's adapter, or the one that was named itself."""
    stored = StoredRun(run)
    if stored.adapter is not None:
        return stored.adapter
    if run.is_dir() and not stored.is_one:
        return run
    lack = stored.why_no_adapter() if stored.is_one else "does not exist"
    raise RunError(f"{run} {lack}; the newest runs with an adapter: {newest(ADAPTER_OF_RUN)}")


def _base_of(run: Path, adapter: Path, base: str | None) -> Weights:
    """Where the model lies that an adapter was trained on.

    Raises:
        ConfigError: nobody says which it is, or its files cannot be had.
        DataError: the adapter's config cannot be read.
    """
    if base is None and StoredRun(run).is_one:
        return _llm_of(run).weights()
    name = base or _base_named_by(adapter)
    from drl.llm.hf import HFLLM

    return HFLLM(
        model=name,
        revision=None,
        adapter=None,
        root="data",
        dtype="float32",
        device="auto",
        chat_template=None,
        max_batch=1,
        prefix_cache_mb=0,
    ).weights()


def _llm_of(run: Path) -> LLM:
    """The model of a run without the adapter that it started from, which is part of its result."""
    from drl.runtime.config import build_as

    stored = StoredRun(run)
    if stored.config.get("llm") is None:
        raise ConfigError(f"{run}: its config names no llm; say which with --base MODEL")
    node = stored.node("llm")
    here: dict[str, JSON] = {"adapter": None, "device": "auto", "dtype": "float32"}
    return build_as("llm", {**node, **{k: v for k, v in here.items() if k in node}}, LLM)


def _base_named_by(adapter: Path) -> str:
    import json

    file = adapter / ADAPTER_CONFIG
    try:
        name = json.loads(file.read_text(encoding="utf-8")).get("base_model_name_or_path")
    except (ValueError, AttributeError) as error:
        raise DataError(
            f"{file} cannot be read ({error}); name a folder as PEFT saves it"
        ) from error
    if not name:
        raise ConfigError(f"{file} names no base; say which with --base MODEL")
    return str(name)
