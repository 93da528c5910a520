"""The model of a run as a policy that learns: loaded, played with, saved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from drl.errors import ConfigError, RunError
from drl.finetune.learner import Learner, load_learner
from drl.finetune.settings import LoraSettings
from drl.llm.base import Weights
from drl.models.chat_template import ChatTemplate
from drl.models.load import Loaded, load_base
from drl.runtime.drafts import drafted_folder
from drl.runtime.run_dir import ADAPTER_OF_RUN

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MODEL_OF_RUN = Path("checkpoints") / "model"
"""Where a run keeps the whole model that it trained, below its folder."""


@dataclass(frozen=True, kw_only=True)
class WeightsSettings:
    """Which weights learn.

    `lora` an adapter, a new one or the one of llm; otherwise weights of the model itself, which
    then must be float32: `all` of them, its output layer `lm_head`, or the `last_blocks`, which are
    `num_blocks` and what comes after them.
    """

    train: Literal["lora", "all", "lm_head", "last_blocks"]
    num_blocks: int
    lora: LoraSettings

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        if self.train == "last_blocks" and self.num_blocks < 1:
            raise ConfigError(
                f"trainer.weights.num_blocks={self.num_blocks} must be at least 1 with "
                "train=last_blocks; raise it, or use train=lm_head"
            )


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """A model of which some weights learn; `adapted` is it with its adapter, if it has one."""

    model: PreTrainedModel
    loaded: Loaded
    template: ChatTemplate
    adapted: Learner | None

    def save(self, folder: Path) -> Path:
        """Write what was learned below a folder; gives its place.

        Raises:
            RunError: it cannot be written.
        """
        if self.adapted is not None:
            self.adapted.save(folder / ADAPTER_OF_RUN, None)
            return folder / ADAPTER_OF_RUN
        from safetensors import SafetensorError

        place = folder / MODEL_OF_RUN
        try:
            with drafted_folder(place) as draft:
                self.model.save_pretrained(draft)
                self.loaded.tokenizer.save_pretrained(draft)
        except (OSError, SafetensorError) as error:
            raise RunError(
                f"{place}: cannot be written ({error}); make room and start the same command again"
            ) from error
        return place


def load_policy(weights: Weights, settings: WeightsSettings, seed: int) -> RunPolicy:
    """The model of a run, ready to learn.

    Raises:
        ConfigError: settings and files do not go together.
    """
    from drl.ppo.trainable import train_only

    if settings.train == "lora":
        learner = load_learner(weights, settings.lora, "sdpa", seed)
        model = learner.base
        return RunPolicy(model, Loaded(model, learner.tokenizer), learner.template, learner)
    if weights.adapter is not None:
        raise ConfigError(
            f"trainer.weights.train={settings.train} learns weights of the model itself, but "
            "llm.adapter is set; merge it (drl merge), or use train=lora"
        )
    if weights.dtype != "float32":
        raise ConfigError(
            f"trainer.weights.train={settings.train} needs llm.dtype=float32: in {weights.dtype} "
            "small steps are rounded away; set it, or use train=lora, whose adapter is float32"
        )
    loaded = load_base(weights.folder, weights.dtype, weights.device)
    train_only(loaded.model, settings.train, settings.num_blocks)
    return RunPolicy(
        loaded.model, loaded, ChatTemplate(loaded.tokenizer, weights.chat_template), None
    )
