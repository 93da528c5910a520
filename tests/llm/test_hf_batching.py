"""One model, many requests: what is computed together and reused is what each would get alone."""

import pytest
import torch
from transformers import AutoModelForCausalLM

from drl.llm.base import LLM, Completions, Message, Request, Sampling
from tests.llm import tiny_model
from tests.llm.asking import ask, ask_one, make, request

SYSTEM = "You sell tickets. " + "Trains leave at ten, and again at noon. " * 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    config = tiny_model.llama(max_position_embeddings=2048)
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("tiny"), config)


def hf(folder, **settings) -> LLM:
    return make("hf", **{"model": str(folder), "dtype": "float32", "device": "cpu", **settings})


def chat(*texts: str, n: int = 1, temperature: float = 0.0, max_tokens: int = 12) -> Request:
    roles = ("system", "user", "assistant")
    said = [Message(roles[min(i, 2 - i % 2)], text) for i, text in enumerate(texts)]
    return request(messages=tuple(said), seeds=range(n), sampling=Sampling(temperature, max_tokens))


def token_ids(completions: Completions) -> list[tuple[int, ...]]:
    return [choice.sampled.token_ids for choice in completions.choices if choice.sampled]


def gaps_and_tokens(folder, completions: Completions) -> list[tuple[float, int, int]]:
    """For each greedy token: the gap of the top two, the likeliest, and the one taken."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    (choice,) = completions.choices
    prompt, tokens = choice.sampled.prompt_ids, choice.sampled.token_ids
    with torch.inference_mode():
        logits = model(torch.tensor([prompt + tokens])).logits[0, len(prompt) - 1 : -1]
    best = logits.topk(2)
    gaps = (best.values[:, 0] - best.values[:, 1]).tolist()
    return list(zip(gaps, best.indices[:, 0].tolist(), tokens, strict=True))


CHATS = [
    chat(SYSTEM, "one ticket to Ely"),
    chat(SYSTEM, "one ticket to Norwich", "At ten?", "at noon"),
    chat(SYSTEM, "one ticket to Norwich", "At ten?", "at ten, please"),
    chat("Be brief.", "hello"),
    chat("x", "a much longer first message than the others have " * 12),
    chat(SYSTEM, "2"),
]


def test_what_is_asked_together_is_answered_as_by_a_plain_forward_pass(folder):
    answers = ask(hf(folder), *CHATS)
    for answer in answers:
        steps = gaps_and_tokens(folder, answer)
        assert len(steps) == 12
        assert all(best == taken for gap, best, taken in steps if gap > 1e-3)
        assert any(gap > 1e-3 for gap, _, _ in steps)


@pytest.mark.parametrize("settings", [{"prefix_cache_mb": 0}, {"max_batch": 1}, {"max_batch": 2}])
def test_answers_are_the_same_whatever_is_kept_and_however_many_share_the_batch(folder, settings):
    wanted = [token_ids(answer) for answer in ask(hf(folder), *CHATS)]
    assert [token_ids(answer) for answer in ask(hf(folder, **settings), *CHATS)] == wanted
    alone = [token_ids(ask_one(hf(folder, **settings), one)) for one in CHATS]
    assert alone == wanted


def test_a_sample_does_not_depend_on_who_shares_the_batch(folder):
    asked = chat(SYSTEM, "one ticket to Ely", temperature=1.0)
    alone = ask_one(hf(folder), asked)
    crowd = [chat(SYSTEM, f"{n} tickets", n=3, temperature=0.7) for n in range(5)]
    crowded, *_ = ask(hf(folder), asked, *crowd)
    assert token_ids(crowded) == token_ids(alone)
    assert crowded.choices[0].sampled.log_probs == pytest.approx(
        alone.choices[0].sampled.log_probs, abs=1e-4
    )


def test_samples_of_one_request_are_those_of_as_many_requests(folder):
    together = ask_one(hf(folder), chat(SYSTEM, "hello", n=9, temperature=1.0))
    one_by_one = [
        request(messages=chat(SYSTEM, "hello").messages, seeds=[seed], sampling=Sampling(1.0, 12))
        for seed in range(9)
    ]
    apart = ask(hf(folder), *one_by_one)
    assert token_ids(together) == [ids for answer in apart for ids in token_ids(answer)]


def test_prompts_that_arrive_together_compute_their_common_beginning_once(folder):
    first, second = ask(hf(folder), chat(SYSTEM, "one"), chat(SYSTEM, "two"))
    prompts = [answer.choices[0].sampled.prompt_ids for answer in (first, second)]
    common = next(i for i, (a, b) in enumerate(zip(*prompts, strict=True)) if a != b)
    assert first.usage.tokens_cached == 0
    assert second.usage.tokens_cached == common
    assert second.usage.tokens_in == len(prompts[1])


def test_the_next_turn_computes_only_what_is_new(folder):
    class Talk:
        cached: int
        known: int

    async def talk(llm: LLM) -> Talk:
        first = await llm.complete(chat(SYSTEM, "hello"))
        (choice,) = first.choices
        more = chat(SYSTEM, "hello", choice.text, "go on")
        second = await llm.complete(more)
        await llm.close()
        result = Talk()
        result.cached = second.usage.tokens_cached
        prompt = second.choices[0].sampled.prompt_ids
        before = choice.sampled.prompt_ids + choice.sampled.token_ids[:-1]
        result.known = next(
            (i for i, (a, b) in enumerate(zip(prompt, before, strict=False)) if a != b),
            len(before),
        )
        assert result.known >= len(choice.sampled.prompt_ids)
        return result

    import asyncio

    talk_ = asyncio.run(talk(hf(folder)))
    assert talk_.cached == talk_.known


def test_the_same_prompt_again_computes_its_last_token_only(folder):
    import asyncio

    async def twice(llm: LLM) -> list[int]:
        answers = [await llm.complete(chat(SYSTEM, "hello", n=2)) for _ in range(2)]
        await llm.close()
        return [answers[1].usage.tokens_in - answers[1].usage.tokens_cached]

    assert asyncio.run(twice(hf(folder))) == [1]
