"""Which weights of a model learn: by switching gradients on, so the model stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from torch import nn

from drl.errors import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TrainedPart = Literal["all", "lm_head", "last_blocks"]


def train_only(model: PreTrainedModel, part: TrainedPart, num_blocks: int = 0) -> None:
    """Let all weights learn, or the output layer, or that with the last blocks and what follows.

    An output layer that is the input embedding as well is separated from it, where not all
    weights learn: otherwise what is frozen would move.

    Args:
        model: a language model.
        part: of it.
        num_blocks: how many of the last blocks; 0 is the output layer alone.

    Raises:
        ConfigError: it has no output layer, or fewer blocks.
    """
    model.requires_grad_(part == "all")
    if part == "all":
        return
    _untie(model)
    output_layer(model).requires_grad_(True)
    if part == "lm_head" or num_blocks == 0:
        return
    blocks, after = _blocks(model)
    if num_blocks > len(blocks):
        raise ConfigError(
            f"{type(model).__name__} has {len(blocks)} blocks, so the last {num_blocks} cannot be "
            "trained; name fewer"
        )
    for module in (*list(blocks)[-num_blocks:], *after):
        module.requires_grad_(True)


def output_layer(model: PreTrainedModel) -> nn.Module:
    """What makes logits of hidden states.

    Raises:
        ConfigError: the model has none, so it cannot write.
    """
    head = model.get_output_embeddings()
    if head is None:
        raise ConfigError(
            f"{type(model).__name__} ({model.name_or_path}) has no language-model head, so it "
            "cannot write; load it as a causal or an encoder-decoder language model"
        )
    return head


def _untie(model: PreTrainedModel) -> None:
    """Give the output layer weights of its own."""
    head, weight = output_layer(model), model.get_input_embeddings().weight
    assert isinstance(weight, nn.Parameter), "an embedding has a matrix"
    if head.weight is weight:
        head.weight = nn.Parameter(weight.detach().clone())
        model.config.get_text_config().tie_word_embeddings = False
        model.config.tie_word_embeddings = False


def _blocks(model: PreTrainedModel) -> tuple[nn.ModuleList, list[nn.Module]]:
    """The blocks that write, and the modules that come after them in the same stack.

    They are the outermost list of modules in the decoder, where every architecture of transformers
    keeps them.
    """
    for parent in model.get_decoder().modules():
        children = list(parent.children())
        for place, module in enumerate(children):
            if isinstance(module, nn.ModuleList):
                return module, children[place + 1 :]
    raise ConfigError(
        f"{type(model).__name__} keeps its blocks in no list, so the last ones cannot be told; "
        "train all, or lm_head"
    )
