"""What an adapter made its model forget, asked without a key and offline.

Two looks at the same weights with the adapter on and off: how far the predictions of the next token
have moved on generic text that has nothing to do with the training (`generic.txt`), and how many of
50 instructions with a checkable answer (`instructions.jsonl`) are still followed. Both texts are
our own. Values are given one by one; whoever reports them chooses the statistics.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from drl.finetune.checks import CHECKS
from drl.llm.base import Message
from drl.models.chat_template import ChatTemplate

if TYPE_CHECKING:
    from collections.abc import Callable

    from peft import PeftModel
    from torch import Tensor

MAX_TOKENS = 64
"""The longest answer to an instruction."""

_BATCH = 25  # answers that grow at once
_TITLE = re.compile(r"^# ([a-z]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A request to a model, and whether an answer does what it says."""

    name: str
    ask: str
    is_followed: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingReport:
    """What was found, passage by passage and instruction by instruction.

    `kl_to_base` is KL(adapted || base) of the next token, in nats, averaged over the tokens of a
    passage; `kl_from_base` is KL(base || adapted). In bfloat16 an adapter that does nothing worth
    mentioning already shows 0.002 (SmolLM2-135M), in float32 0.00001. Tuples of one kind have one
    order.
    """

    passages: tuple[str, ...]
    kl_to_base: tuple[float, ...]
    kl_from_base: tuple[float, ...]
    instructions: tuple[str, ...]
    passed_base: tuple[bool, ...]
    passed_adapted: tuple[bool, ...]
    answers_base: tuple[str, ...]
    answers_adapted: tuple[str, ...]
    seconds: float


def forgetting(
    model: PeftModel, template: ChatTemplate, end_ids: frozenset[int]
) -> ForgettingReport:
    """Hold a model with its adapter against itself without.

    Args:
        model: with one active adapter; in training mode or not, it is left as it was.
        template: the chats of the model, as inference renders them.
        end_ids: the tokens that end a reply at inference.

    Raises:
        ConfigError: the template refuses a chat of one message by the user.
    """
    start = time.perf_counter()
    texts = passages()
    asked = instructions()
    with _evaluating(model):
        pairs = [_both_kls(model, template, text) for _, text in texts]
        adapted = _answers(model, template, end_ids, asked)
        with model.disable_adapter():
            base = _answers(model, template, end_ids, asked)
    return ForgettingReport(
        passages=tuple(kind for kind, _ in texts),
        kl_to_base=tuple(to_base for to_base, _ in pairs),
        kl_from_base=tuple(from_base for _, from_base in pairs),
        instructions=tuple(each.name for each in asked),
        passed_base=_passed(asked, base),
        passed_adapted=_passed(asked, adapted),
        answers_base=base,
        answers_adapted=adapted,
        seconds=time.perf_counter() - start,
    )


def passages() -> list[tuple[str, str]]:
    """The generic texts, each with its kind."""
    _, *parts = _TITLE.split(_read("generic.txt"))
    return [(kind, text.strip()) for kind, text in zip(parts[::2], parts[1::2], strict=True)]


def instructions() -> list[Instruction]:
    """The 50 instructions, each with its check."""
    found = []
    for line in _read("instructions.jsonl").splitlines():
        settings = json.loads(line)
        name, ask, check = (settings.pop(key) for key in ("name", "ask", "check"))
        found.append(Instruction(name, ask, partial(CHECKS[check], **settings)))
    return found


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@contextmanager
def _evaluating(model: PeftModel) -> Iterator[None]:
    """Without dropout and gradients; training goes on afterwards as if nothing had been."""
    import torch

    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def _both_kls(model: PeftModel, template: ChatTemplate, text: str) -> tuple[float, float]:
    """KL(adapted || base) and KL(base || adapted), in nats a token."""
    import torch

    ids = torch.tensor([template.tokenizer(text)["input_ids"]], device=model.device)
    adapted = model(input_ids=ids).logits[0].float().log_softmax(-1)
    with model.disable_adapter():
        base = model(input_ids=ids).logits[0].float().log_softmax(-1)
    return _kl(adapted, base), _kl(base, adapted)


def _kl(some_LV: Tensor, others_LV: Tensor) -> float:
    """KL(some || others), averaged over L; log-probabilities over V.

    Rounding may leave a hair less than nothing, which no KL is.
    """
    kl = float((some_LV.exp() * (some_LV - others_LV)).sum(-1).mean())
    return max(kl, 0.0)


def _answers(
    model: PeftModel,
    template: ChatTemplate,
    end_ids: frozenset[int],
    asked: Sequence[Instruction],
) -> tuple[str, ...]:
    """The likeliest answers, in batches of prompts of like length."""
    prompts = [
        template.ids(template.text([Message("user", each.ask).plain()], [], reply_follows=True))
        for each in asked
    ]
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
    answers = [""] * len(prompts)
    for first in range(0, len(order), _BATCH):
        batch = order[first : first + _BATCH]
        found = _grow(model, template, end_ids, [prompts[place] for place in batch])
        for place, answer in zip(batch, found, strict=True):
            answers[place] = answer
    return tuple(answers)


def _grow(
    model: PeftModel,
    template: ChatTemplate,
    end_ids: frozenset[int],
    prompts: Sequence[tuple[int, ...]],
) -> list[str]:
    import torch
    from transformers import GenerationConfig

    end_id = template.end_id
    width = max(len(prompt) for prompt in prompts)
    padding = [width - len(prompt) for prompt in prompts]
    ids = [[end_id] * pad + list(p) for pad, p in zip(padding, prompts, strict=True)]
    mask = [[0] * pad + [1] * (width - pad) for pad in padding]
    grown = model.generate(
        input_ids=torch.tensor(ids, device=model.device),
        attention_mask=torch.tensor(mask, device=model.device),
        generation_config=GenerationConfig(
            do_sample=False,
            max_new_tokens=MAX_TOKENS,
            eos_token_id=sorted(end_ids),
            pad_token_id=end_id,
        ),
    )
    return template.tokenizer.batch_decode(grown[:, width:], skip_special_tokens=True)


def _passed(asked: Sequence[Instruction], answers: Sequence[str]) -> tuple[bool, ...]:
    return tuple(each.is_followed(text) for each, text in zip(asked, answers, strict=True))
