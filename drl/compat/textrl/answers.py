"""Sampled answers of a model to prompts, which are strings or chats, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from drl.compat.textrl._reward_base import Text
from drl.compat.textrl.prompts import check_fits, prompt_ids

if TYPE_CHECKING:
    from drl.compat.textrl.models import LoadedModel


def answers(
    loaded: LoadedModel,
    prompts: Sequence[Text],
    max_new_tokens: int,
    batch_size: int,
    temperature: float,
    seed: int,
) -> list[Text]:
    """An answer to each prompt, of its form; drawn from all tokens, or at temperature 0 the best.

    Args:
        loaded: a causal model or an encoder-decoder, and its tokenizer.
        prompts: texts, or chats that end before the assistant's turn.
        max_new_tokens: the longest answer.
        batch_size: prompts that are answered side by side, which decides about the samples too.
        temperature: of the softmax.
        seed: of the samples.

    Raises:
        DataError: a prompt and its answer do not fit into the model's context.
    """
    import torch

    sampling: dict[str, Any] = {"do_sample": False}
    if temperature > 0:
        sampling = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    given: list[Text] = []
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(seed)
        for start in range(0, len(prompts), batch_size):
            batch = prompts[start : start + batch_size]
            given += _answered(loaded, batch, start, max_new_tokens, sampling)
    return given


def _answered(
    loaded: LoadedModel,
    prompts: Sequence[Text],
    start: int,
    max_new_tokens: int,
    sampling: dict[str, Any],
) -> list[Text]:
    model: Any = loaded.policy.eval()
    read = [prompt_ids(loaded.tokenizer, prompt) for prompt in prompts]
    for place, ids in enumerate(read):
        check_fits(model.config, start + place, len(ids), max_new_tokens)
    inputs = loaded.tokenizer.pad({"input_ids": read}, return_tensors="pt").to(model.device)
    written = model.generate(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        max_new_tokens=max_new_tokens,
        pad_token_id=loaded.tokenizer.pad_token_id,
        **sampling,
    )
    if not model.config.is_encoder_decoder:
        written = written[:, inputs["input_ids"].shape[1] :]
    texts = loaded.tokenizer.batch_decode(written, skip_special_tokens=True)
    return [
        text if isinstance(prompt, str) else [{"role": "assistant", "content": text}]
        for prompt, text in zip(prompts, texts, strict=True)
    ]
