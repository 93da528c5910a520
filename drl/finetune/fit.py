"""One optimisation with a trainer of TRL: arguments, metrics, and a state that survives kills."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

from drl.errors import RunError
from drl.finetune.processes import first_one_first, is_sharded
from drl.finetune.settings import FitSettings
from drl.runtime.lines import LineFile
from drl.runtime.metrics import add_metrics, keep_metrics, read_metrics
from drl.runtime.progress import announce

if TYPE_CHECKING:
    from transformers import Trainer, TrainerCallback

_STATE = "trainer_state.json"
_NOT_LOGGED = frozenset({"num_tokens", "epoch"})
"""TRL counts tokens from the last start, not from the first; KTO's epochs are one to it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is: updates done and to be done."""

    update: int
    num_updates: int


@dataclass(frozen=True, slots=True)
class Remedies:
    """What to do where memory is out, and where weights are no numbers any more."""

    memory: str
    numbers: str


_REMEDIES = Remedies(
    memory="lower trainer.fit.batch_size and raise trainer.fit.accumulation as much, set "
    "trainer.fit.activation_checkpointing=true, or lower trainer.data.max_length",
    numbers="lower trainer.fit.learning_rate, or use llm.dtype=float32",
)


def arguments(fit: FitSettings, *, seed: int, device: str, resume: Path) -> dict[str, Any]:
    """What every configuration of TRL takes.

    Args:
        fit: the optimisation.
        seed: of the order of rows and of dropout.
        device: cpu or cuda.
        resume: the folder for states from which a killed run goes on.
    """
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
        "logging_nan_inf_filter": False,
        "save_strategy": "steps",
        "save_steps": fit.save_every,
        "save_total_limit": 2,
        "report_to": [],
        "disable_tqdm": True,
        "dataloader_pin_memory": device != "cpu",
    }


def train(
    trainer: Trainer,
    *,
    resume: Path,
    metrics: Path,
    tell: Callable[[Progress], None],
    steps_per_update: int = 1,
    remedies: Remedies = _REMEDIES,
) -> dict[str, float]:
    """Train from the last whole state, or from the start; the numbers of the whole training.

    These are `updates`, `train_loss`, the mean over all of them, and `last_loss`, that over those
    since the last line but one of the metrics. Only the first of several processes gets them.

    Args:
        trainer: of TRL, with its rows and its model.
        resume: its folder for states.
        metrics: a file of lines, one for each log.
        tell: hears of every update.
        steps_per_update: steps of the optimizer that make an update.
        remedies: what errors say is to be done.

    Raises:
        RunError: a file cannot be written, memory is out, or weights are no numbers any more.
        KeyboardInterrupt: was asked to stop; the next start goes on from the last state.
    """
    from transformers import PrinterCallback

    with first_one_first():
        state = _last_state(resume)
        if trainer.is_world_process_zero():
            update = 0 if state is None else _steps_of(state) // steps_per_update
            keep_metrics(metrics, update)
            if update:
                announce(f"The training goes on after update {update}.")
    trainer.remove_callback(PrinterCallback)
    with _faults_named(resume, remedies), _lines(trainer, metrics) as lines, _quiet():
        trainer.add_callback(_callback(lines, tell, steps_per_update, remedies))
        trainer.train(resume_from_checkpoint=None if state is None else str(state))
    return _numbers(metrics) if trainer.is_world_process_zero() else {}


@contextmanager
def _faults_named(resume: Path, remedies: Remedies) -> Iterator[None]:
    """What this machine lacks, in one line."""
    import torch
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{resume}: cannot be written ({error}); make room and start the same command again"
        ) from error
    except torch.OutOfMemoryError as error:
        raise RunError(f"the memory of the GPU is out; {remedies.memory}") from error


def whole_weights(trainer: Trainer) -> dict[str, Any] | None:
    """All weights by name, where FSDP or DeepSpeed share them out; all processes have to ask."""
    if not is_sharded():
        return None
    model = trainer.model_wrapped if trainer.is_deepspeed_enabled else trainer.model
    return trainer.accelerator.get_state_dict(model)


def forget_states(resume: Path) -> None:
    """Remove the states of a training that is over."""
    shutil.rmtree(resume, ignore_errors=True)


@contextmanager
def _lines(trainer: Trainer, metrics: Path) -> Iterator[LineFile | None]:
    """The file of metrics, for the one process that writes it."""
    if not trainer.is_world_process_zero():
        yield None
        return
    with LineFile(metrics) as lines:
        yield lines


@contextmanager
def _quiet() -> Iterator[None]:
    """Without remarks of libraries to one another.

    transformers tells of states that were saved within one second, and that TRL 1.16 asks for and
    switches checkpoints of activations by old names.
    """
    log = logging.getLogger("transformers.trainer_utils")

    def is_news(record: logging.LogRecord) -> bool:
        return "mtime may not be reliable" not in record.getMessage()

    log.addFilter(is_news)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "`(is_)?gradient_checkpointing(_enable|_disable)?`", FutureWarning
            )
            yield
    finally:
        log.removeFilter(is_news)


def _callback(
    lines: LineFile | None,
    tell: Callable[[Progress], None],
    steps_per_update: int,
    remedies: Remedies,
) -> TrainerCallback:
    """Writes each log as a line, tells of each update, and stops where weights are lost."""
    from transformers import TrainerCallback

    class Reporter(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **kwargs):
            entry = {key: value for key, value in (logs or {}).items() if key not in _NOT_LOGGED}
            if lines is not None and "loss" in entry:  # the last log of all has none
                update = state.global_step // steps_per_update
                add_metrics(lines, update, entry)

        def on_step_end(self, args, state, control, model=None, **kwargs):
            assert model is not None, "a trainer has one"
            if not _all_finite(model):  # now, before such a state is saved
                raise RunError(
                    "the weights are no numbers any more after update "
                    f"{-(-state.global_step // steps_per_update)}; {remedies.numbers}"
                )
            # windows of means end where states are saved, so that a kill changes none of them
            is_over = state.global_step >= state.max_steps
            control.should_log = control.should_log or control.should_save or is_over
            tell(
                Progress(state.global_step // steps_per_update, state.max_steps // steps_per_update)
            )
            return control

    return Reporter()


def _all_finite(model: Any) -> bool:
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    return all(bool(weight.detach().isfinite().all()) for weight in trained)


def _last_state(resume: Path) -> Path | None:
    """The newest state that is whole; what a kill or a full disk left of later ones is removed.

    Raises:
        RunError: states are there, but none that can be read.
    """
    states = sorted(resume.glob("checkpoint-*"), key=_number, reverse=True)
    found = next((state for state in states if _is_whole(state)), None)
    if found is None and any((state / _STATE).exists() for state in states):
        raise RunError(
            f"{resume}: holds no state that can be read; remove it and start the same command "
            "again, which begins anew"
        )
    for state in states[: len(states) if found is None else states.index(found)]:
        shutil.rmtree(state)
    return found


def _number(state: Path) -> int:
    return int(state.name.rpartition("-")[2])


def _is_whole(state: Path) -> bool:
    """Whether all of its files can be read; transformers writes the count of updates last."""
    from safetensors import SafetensorError, safe_open

    try:
        json.loads((state / _STATE).read_text())
        for weights in state.glob("*.safetensors"):
            with safe_open(weights, "pt") as opened:  # checks lengths against the header
                opened.keys()
    except (OSError, ValueError, SafetensorError):
        return False
    # torch writes archives, whose index stands at their end
    return all(is_zipfile(saved) for saved in (*state.glob("*.pt"), *state.glob("*.pth")))


def _steps_of(state: Path) -> int:
    return int(json.loads((state / _STATE).read_text())["global_step"])


def _numbers(metrics: Path) -> dict[str, float]:
    """The training as a whole, from lines each of which tells of the updates since the last."""
    logged = read_metrics(metrics)
    updates = [0, *(entry["update"] for entry in logged)]
    spans = [now - before for before, now in pairwise(updates)]
    losses = [entry["loss"] * span for entry, span in zip(logged, spans, strict=True)]
    return {
        "updates": updates[-1],
        "train_loss": sum(losses) / updates[-1],
        "last_loss": logged[-1]["loss"],
    }
