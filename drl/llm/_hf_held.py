"""Models that are in memory already: whose they are, and how they are given back as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drl.errors import ConfigError
from drl.llm.base import Weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from drl.models.load import Loaded


@dataclass(frozen=True, slots=True)
class Held:
    """A model that somebody else owns, in the place of `Source`.

    `model` is its name; `version` names its weights.
    """

    model: str
    loaded: Loaded
    version: str

    def identity(self) -> Mapping[str, str]:
        """What decides what it answers: the version, where a source has fingerprints of files."""
        return {
            "model": self.model,
            "weights": f"in memory, {self.version}",
            "adapter": "none",
            "dtype": str(self.loaded.model.dtype).removeprefix("torch."),
        }

    def load(self) -> Loaded:
        """The model and its tokenizer."""
        return self.loaded

    def weights(self, chat_template: str | None) -> Weights:
        """Nowhere.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(
            f"llm.model={self.model}: these weights ({self.version}) are in memory and in no file; "
            "save them and name the folder"
        )


@contextmanager
def lent(model: PreTrainedModel) -> Iterator[None]:
    """For a while the model may be in evaluation mode and attend as it likes; then it is as before.

    Its weights, and what is to be trained of them, are not touched.
    """
    attention = model.config._attn_implementation or "eager"
    generation = model.generation_config
    learning = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in learning:
            module.training = True
        model.generation_config = generation
        if model.config._attn_implementation != attention:
            model.set_attn_implementation(attention)
