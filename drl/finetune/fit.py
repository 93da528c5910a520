"""One optimisation with a trainer of TRL: arguments, metrics, and a state that survives kills."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drl.errors import RunError
from drl.finetune.settings import FitSettings
from drl.runtime.lines import LineFile, whole_lines

if TYPE_CHECKING:
    from transformers import Trainer, TrainerCallback

METRICS = "metrics.jsonl"
_STATE = "trainer_state.json"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is: updates done and to be done, and the numbers logged last."""

    update: int
    num_updates: int


def arguments(fit: FitSettings, *, seed: int, device: str, resume: Path) -> dict[str, Any]:
    """What every configuration of TRL takes.

    Args:
        fit: the optimisation.
        seed: of the order of rows and of dropout.
        device: cpu or cuda.
        resume: the folder for states from which a killed run goes on.
    """
    # must be set before trl is imported, which reports its use to its makers otherwise
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    return {
        "output_dir": str(resume),
        "num_train_epochs": fit.epochs,
        "max_steps": -1 if fit.max_updates is None else fit.max_updates,
        "per_device_train_batch_size": fit.batch_size,
        "gradient_accumulation_steps": fit.accumulation,
        "learning_rate": fit.learning_rate,
        "lr_scheduler_type": fit.schedule,
        "warmup_steps": fit.warmup,
        "weight_decay": fit.weight_decay,
        "max_grad_norm": fit.max_grad_norm,
        "optim": fit.optimizer,
        "activation_checkpointing": fit.activation_checkpointing,
        "seed": seed,
        "data_seed": seed,
        "use_cpu": device == "cpu",
        "bf16": False,  # the weights are in the number format of llm.dtype already
        "logging_steps": fit.log_every,
        "logging_first_step": True,
        "save_strategy": "steps",
        "save_steps": fit.save_every,
        "save_total_limit": 2,
        "report_to": [],
        "disable_tqdm": True,
        "dataloader_pin_memory": device != "cpu",
    }


def train(
    trainer: Trainer, *, resume: Path, metrics: Path, tell: Callable[[Progress], None]
) -> dict[str, float]:
    """Train from the last whole state, or from the start; returns the numbers of the training.

    Args:
        trainer: of TRL, with its rows and its model.
        resume: its folder for states, which is removed once the training is over.
        metrics: a file of lines, one for each log.
        tell: hears of every update.

    Raises:
        RunError: a file cannot be written, or the loss is not a number any more.
        KeyboardInterrupt: was asked to stop; the next start goes on from the last state.
    """
    from transformers import PrinterCallback

    state = _last_state(resume)
    _keep_metrics(metrics, 0 if state is None else _update_of(state))
    trainer.remove_callback(PrinterCallback)
    with LineFile(metrics) as lines:
        trainer.add_callback(_callback(lines, tell))
        result = trainer.train(resume_from_checkpoint=None if state is None else str(state))
    return {key: float(value) for key, value in result.metrics.items()}


def forget_states(resume: Path) -> None:
    """Remove the states of a training that is over."""
    shutil.rmtree(resume, ignore_errors=True)


def _callback(lines: LineFile, tell: Callable[[Progress], None]) -> TrainerCallback:
    """Writes each log as a line, tells of each update, and stops where the loss is lost."""
    from transformers import TrainerCallback

    class Reporter(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **kwargs):
            entry = {"update": state.global_step, **(logs or {})}
            lines.append(json.dumps(entry).encode())
            loss = entry.get("loss")
            if isinstance(loss, float) and loss != loss:
                raise RunError(
                    f"the loss is not a number at update {state.global_step}; lower "
                    "trainer.fit.learning_rate, or use llm.dtype=float32"
                )

        def on_step_end(self, args, state, control, **kwargs):
            tell(Progress(state.global_step, state.max_steps))

    return Reporter()


def _last_state(resume: Path) -> Path | None:
    """The newest state that is whole; what a kill left half-written is removed.

    transformers writes the file with the count of updates last.
    """
    for state in sorted(resume.glob("checkpoint-*"), key=_number, reverse=True):
        if _is_whole(state):
            return state
        shutil.rmtree(state)
    return None


def _number(state: Path) -> int:
    return int(state.name.rpartition("-")[2])


def _is_whole(state: Path) -> bool:
    try:
        json.loads((state / _STATE).read_text())
    except (OSError, ValueError):
        return False
    return True


def _update_of(state: Path) -> int:
    return int(json.loads((state / _STATE).read_text())["global_step"])


def _keep_metrics(metrics: Path, last_update: int) -> None:
    """Drop the lines of updates that are made again."""
    if not metrics.exists():
        return
    kept = [line for _, line in whole_lines(metrics) if json.loads(line)["update"] <= last_update]
    draft = metrics.with_name(metrics.name + ".draft")
    draft.write_bytes(b"".join(kept))
    os.replace(draft, metrics)
