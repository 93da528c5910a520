"""Small trainings: rows of a toy that can be learned, tiny models, and the parts of a run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from drl.finetune.examples import Lesson
from drl.finetune.settings import DataSettings, FitSettings, LoraSettings
from drl.llm.hf import HFLLM
from drl.trainer._finetune import FinetuneTrainer
from drl.trainer.base import Parts
from drl.trainer.dpo import DPOTrainer
from drl.trainer.kto import KTOTrainer
from drl.trainer.sft import SFTTrainer
from tests.trainer.small_runs import NO_CALLS, start

DATA = DataSettings(max_rows=None, max_tokens=None, max_length=512, too_long="drop")
LORA = LoraSettings(rank=4, alpha=8, dropout=0.0, modules="all-linear", quantize=None)
FIT = FitSettings(
    epochs=1.0,
    max_updates=None,
    batch_size=2,
    accumulation=1,
    learning_rate=1e-2,
    schedule="constant",
    warmup=0,
    weight_decay=0.0,
    max_grad_norm=1.0,
    optimizer="adamw_torch",
    attention="eager",
    activation_checkpointing=False,
    log_every=1,
    save_every=100,
)
COMMON = {"check_forgetting": False, "data": DATA, "lora": LORA}
KINDS: Mapping[str, tuple[type[FinetuneTrainer], Mapping[str, Any]]] = {
    "sft": (SFTTrainer, {}),
    "dpo": (DPOTrainer, {"beta": 0.1, "sft_weight": 0.2, "label_smoothing": 0.0}),
    "kto": (KTOTrainer, {"beta": 0.1, "undesirable_weight": "auto", "shuffle_labels": False}),
}


def trainer_of(
    form: str, *source: object, fit: Mapping[str, Any] | None = None, **changes: Any
) -> FinetuneTrainer:
    """A trainer of this form, with what differs from the settings above."""
    make, own = KINDS[form]
    settings = {**COMMON, **own, "fit": replace(FIT, **(fit or {}))} | changes
    return make(source=[str(each) for each in source], **settings)


def model_of(folder: Path, **changes: Any) -> HFLLM:
    """A model in a folder, in float32 on the CPU."""
    settings = {
        "model": str(folder),
        "revision": None,
        "adapter": None,
        "root": str(folder),
        "dtype": "float32",
        "device": "cpu",
        "chat_template": None,
        "max_batch": 4,
        "prefix_cache_mb": 0,
    }
    return HFLLM(**(settings | changes))


def parts_of(llm: HFLLM | None, *, seed: int = 0, **parts: Any) -> Parts:
    """The parts of a training."""
    adapter = None if llm is None else llm.weights().adapter
    config = {
        "name": "x",
        "seed": seed,
        "data_dir": "data",
        "llm": {"model": "tiny", "adapter": None if adapter is None else str(adapter)},
    }
    return Parts(config=config | parts.pop("config", {}), calls=NO_CALLS, llm=llm, **parts)


def train(trainer: FinetuneTrainer, llm: HFLLM, folder: Path, **parts: Any) -> Mapping[str, Any]:
    """Train, or go on with a training; gives its summary."""
    return start(trainer, parts_of(llm, **parts), folder)


def metrics(folder: Path) -> list[dict[str, float]]:
    """What was logged, in order."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def write_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A file of rows."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def toy_rows(form: str, number: int = 8) -> list[dict[str, Any]]:
    """Rows that say one thing: after any number the agent answers "yes" rather than "no"."""
    rows: list[dict[str, Any]] = []
    for place in range(number):
        prompt = [{"role": "system", "content": "Play."}, user(f"{place}?")]
        if form == "sft":
            rows.append({"messages": [*prompt, agent("yes"), user("So?"), agent("yes")]})
        elif form == "dpo":
            rows.append({"prompt": prompt, "chosen": [agent("yes")], "rejected": [agent("no")]})
        else:
            is_good = place % 2 == 0
            completion = [agent("yes" if is_good else "no")]
            rows.append({"prompt": prompt, "completion": completion, "label": is_good})
    return rows


def user(content: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


def agent(content: str) -> dict[str, Any]:
    """A message of the agent."""
    return {"role": "assistant", "content": content}


def stopping(trainer: FinetuneTrainer, update: int) -> FinetuneTrainer:
    """The trainer, which is stopped from outside once this update is over and stored."""
    from transformers import TrainerCallback

    learning = trainer.learning

    class Stop(TrainerCallback):
        def on_step_begin(self, args, state, control, **kwargs):
            if state.global_step == update:
                raise KeyboardInterrupt

    def stopped(*arguments: Any) -> Lesson:
        lesson = learning(*arguments)
        lesson.trainer.add_callback(Stop())
        return lesson

    trainer.learning = stopped  # pyright: ignore[reportAttributeAccessIssue]
    return trainer
