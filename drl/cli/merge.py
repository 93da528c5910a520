"""`drl merge`: an adapter and its base as one checkpoint that stands alone."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drl.cli._runs import ConfOption, check_conf, newest
from drl.errors import ConfigError, DataError, RunError
from drl.llm.base import LLM
from drl.models.adapter import ADAPTER_CONFIG
from drl.runtime.run_dir import ADAPTER_OF_RUN

if TYPE_CHECKING:
    from drl.runtime.stored_run import StoredRun
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
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder for data, where it is not that of the run, or data."),
    ] = None,
    conf: ConfOption = Path("conf"),
) -> None:
    """Write a checkpoint that answers as a run's adapter does, for llm=hf llm.model=DIR.

    It is loaded again and held against base and adapter on fixed prompts before it appears in DIR.
    """
    import json
    from dataclasses import asdict, replace

    from drl.finetune.merge import check_adapter
    from drl.finetune.merge import merge as merge_into
    from drl.runtime.stored_run import StoredRun

    stored = StoredRun(run, data_dir)
    adapter = _adapter_of(stored)
    check_adapter(adapter)
    if base is None and stored.is_one:
        llm = _llm_of(stored)
    else:
        name = base or _base_named_by(adapter)
        llm = _llm_named(name, data_dir or Path("data"), check_conf(conf))
    weights = replace(llm.weights(), adapter=adapter)
    done = merge_into(weights, out, dtype.value, force=force)
    if done.adapter_change == 0.0:
        print(
            f"warning: {adapter} changes no answer of its base, so {out} is a copy of it; was "
            "anything learned? (learning_rate in metrics.jsonl of its run)",
            file=sys.stderr,
        )
    elif done.logit_difference >= done.adapter_change:
        print(
            f"warning: rounding moves logits by up to {done.logit_difference:.2g}, the adapter "
            f"only by {done.adapter_change:.2g}, so little of it is left; --dtype float32 keeps it",
            file=sys.stderr,
        )
    names = {"folder": out, "base": weights.folder, "adapter": adapter}
    print(json.dumps({key: str(path) for key, path in names.items()} | asdict(done)))


def _adapter_of(run: StoredRun) -> Path:
    """The folder of a run's adapter, or the one that was named itself."""
    if run.adapter is not None:
        return run.adapter
    if run.folder.is_dir() and not run.is_one:
        return run.folder
    lack = run.why_no_adapter() if run.is_one else "does not exist"
    raise RunError(
        f"{run.folder} {lack}; the newest runs with an adapter: {newest(ADAPTER_OF_RUN)}"
    )


def _llm_named(name: str, data_dir: Path, conf: Path) -> LLM:
    """The model of this name, with all else as conf/llm/hf.yaml has it.

    Raises:
        ConfigError: the settings there are wrong.
    """
    from drl.runtime.compose import compose
    from drl.runtime.config import build_as, to_plain

    config = compose(conf, ["llm=hf"])
    config.data_dir, config.llm.model, config.llm.dtype = str(data_dir), name, "float32"
    node = to_plain(config)["llm"]
    assert isinstance(node, Mapping), "conf/llm/hf.yaml is a node"
    return build_as("llm", node, LLM)


def _llm_of(run: StoredRun) -> LLM:
    """The model of a run without the adapter that it started from, which is part of its result.

    Raises:
        ConfigError: the run had none.
    """
    from drl.runtime.config import build_as

    if run.config.get("llm") is None:
        raise ConfigError(f"{run.folder}: its config names no llm; say which with --base MODEL")
    node = run.node("llm")
    here: dict[str, JSON] = {"adapter": None, "device": "auto", "dtype": "float32"}
    return build_as("llm", {**node, **{k: v for k, v in here.items() if k in node}}, LLM)


def _base_named_by(adapter: Path) -> str:
    """The model that an adapter says it was trained on.

    Raises:
        ConfigError: it names none.
        DataError: its config cannot be read.
    """
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
