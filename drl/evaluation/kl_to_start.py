"""How far a policy is from the model that it started from: the KL of texts that it wrote.

Axes: L places of a text, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from peft import PeftModel
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text as tokens. `is_cut`: a limit ended it; otherwise its end was drawn as well."""

    prompt_ids: tuple[int, ...]
    text_ids: tuple[int, ...]
    is_cut: bool


def kls_to_start(model: PeftModel, texts: Sequence[WrittenText], temperature: float) -> list[float]:
    """KL(policy || start) along each text, in nats a text.

    It is the sum over the places of a text of the KL of the next token, in full over the
    vocabulary. Over texts that the policy wrote its mean is the KL of whole texts, with less
    chance in it than log-probabilities of the tokens that happened to be drawn.

    Args:
        model: the policy in evaluation mode; without its adapter it is the start.
        texts: what the policy wrote.
        temperature: at which it draws.
    """
    import torch

    found = []
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor([[*text.prompt_ids, *text.text_ids]], device=model.device)
            places = slice(
                len(text.prompt_ids) - 1, ids.shape[1] - 1 if text.is_cut else ids.shape[1]
            )
            policy_LV = _log_probs(model, ids, places, temperature)
            with model.disable_adapter():
                start_LV = _log_probs(model, ids, places, temperature)
            kl = float((policy_LV.exp() * (policy_LV - start_LV)).sum())
            found.append(max(kl, 0.0))  # rounding may leave a hair less than nothing
    return found


def _log_probs(model: PeftModel, ids: Tensor, places: slice, temperature: float) -> Tensor:
    """What may come next, after each of the places."""
    logits_LV = model(input_ids=ids).logits[0, places].float()
    return (logits_LV / temperature).log_softmax(-1)
