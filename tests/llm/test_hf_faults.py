"""Whatever goes wrong in the engine, or around it, everyone who waits is told, and it goes on."""

import asyncio
import threading
from collections import deque

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from drl.errors import ConfigError
from drl.llm._hf_batch import PrefixBatch
from drl.llm._hf_check import sharing_forward
from drl.llm._hf_job import Job
from drl.llm._hf_text import Watch
from drl.llm._hf_tree import PrefixTree
from drl.llm.base import LLM, Completions, ContextOverflowError, OutageError, Sampling
from tests.llm import tiny_model
from tests.llm.asking import ask, ask_one, make, request


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("tiny"))


def hf(folder, **settings) -> LLM:
    return make("hf", **{"model": str(folder), "dtype": "float32", "device": "cpu", **settings})


def engine_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "drl-hf"]


def broken(folder, tmp_path):
    """The same model with weights that are not numbers."""
    copy = tiny_model.save_tiny_model(tmp_path / "broken")
    weights = load_file(copy / "model.safetensors")
    weights["lm_head.weight"] = torch.full_like(weights["lm_head.weight"], float("nan"))
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    return copy


def test_one_model_serves_several_event_loops(folder):
    llm = hf(folder)

    async def one() -> Completions:
        return await llm.complete(request("hi"))

    first, second = asyncio.run(one()), asyncio.run(one())
    assert first.choices[0].text == second.choices[0].text
    assert second.usage.tokens_cached == second.usage.tokens_in - 1  # the same engine
    asyncio.run(llm.close())


def test_closing_ends_the_thread_and_the_next_call_starts_another(folder):
    llm = hf(folder)
    before = ask_one(llm)
    assert not engine_threads()
    again = ask_one(llm)
    assert again.choices[0].text == before.choices[0].text
    assert again.usage.tokens_cached == 0
    assert not engine_threads()


def test_a_model_that_is_dropped_takes_its_thread_along(folder):
    llm = hf(folder)
    asyncio.run(llm.complete(request("hi")))
    assert len(engine_threads()) == 1
    del llm
    assert not engine_threads()


def test_a_cancelled_call_gives_its_rows_to_others(folder):
    llm = hf(folder, max_batch=1)
    long = request("hi", sampling=Sampling(0.0, 1500))

    async def run() -> Completions:
        waiting = asyncio.ensure_future(llm.complete(long))
        queued = asyncio.ensure_future(llm.complete(long))
        while not engine_threads():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)  # the first is most likely under way; the test holds if not
        waiting.cancel()
        queued.cancel()
        done = await llm.complete(request("hello"))
        for task in (waiting, queued):
            with pytest.raises(asyncio.CancelledError):
                await task
        await llm.close()
        return done

    wanted = ask_one(hf(folder), request("hello")).choices[0].text
    assert asyncio.run(run()).choices[0].text == wanted


def test_an_error_in_the_engine_reaches_all_who_wait_and_is_no_hang(folder, tmp_path):
    llm = hf(broken(folder, tmp_path))

    async def run() -> list[Completions | BaseException]:
        calls = (llm.complete(request("hi", seeds=(seed,))) for seed in range(5))
        return await asyncio.gather(*calls, return_exceptions=True)

    for _ in range(2):  # a later call starts afresh, and is told again
        errors = asyncio.run(run())
        assert len({id(error) for error in errors}) == 5
        for error in errors:
            assert isinstance(error, OutageError)
            assert "not numbers" in str(error)
            assert isinstance(error.__cause__, FloatingPointError)
    assert not engine_threads()


def test_closing_while_calls_wait_tells_them(folder):
    llm = hf(folder)

    async def run() -> list[Completions | BaseException]:
        long = request("hi", sampling=Sampling(0.0, 1500))
        calls = [asyncio.ensure_future(llm.complete(long)) for _ in range(3)]
        await asyncio.sleep(0.2)
        await llm.close()
        return await asyncio.gather(*calls, return_exceptions=True)

    for error in asyncio.run(run()):
        assert isinstance(error, OutageError)
        assert "closed" in str(error)


def test_a_prompt_that_is_too_long_is_refused_with_both_lengths(folder):
    fits = request("x" * 100, sampling=Sampling(0.0, 16))
    (prompt,) = {c.sampled.prompt_ids for c in ask_one(hf(folder), fits).choices if c.sampled}
    longest = 2048 - 16 - (len(prompt) - 100)  # the template's own tokens take room, too
    done, error = ask_both(
        hf(folder),
        request("x" * longest, sampling=Sampling(0.0, 16)),
        request("x" * (longest + 1), sampling=Sampling(0.0, 16)),
    )
    assert isinstance(done, Completions)
    assert isinstance(error, ContextOverflowError)
    for length in ("2033 tokens", "16 more", "2048"):
        assert length in str(error)


def ask_both(llm: LLM, *requests) -> list[Completions | BaseException]:
    async def run():
        calls = (llm.complete(one) for one in requests)
        done = await asyncio.gather(*calls, return_exceptions=True)
        await llm.close()
        return done

    return asyncio.run(run())


def test_a_template_that_makes_nothing_of_a_chat_is_a_config_error(tmp_path):
    folder = tiny_model.save_tiny_model(tmp_path, template="{% if false %}x{% endif %}")
    with pytest.raises(ConfigError, match="makes nothing"):
        ask(hf(folder), request("hi"))


def test_a_chat_that_the_template_refuses_is_a_config_error(tmp_path):
    template = "{{ raise_exception('no system messages, please') }}"
    folder = tiny_model.save_tiny_model(tmp_path, template=template)
    with pytest.raises(ConfigError, match="no system messages, please"):
        ask(hf(folder), request("hi"))


def test_what_is_kept_stays_within_its_bound_at_every_step(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = tiny_model.byte_tokenizer()
    tree = PrefixTree(capacity=200, piece=64)
    watch = Watch(tokenizer, frozenset())
    batch = PrefixBatch(sharing_forward(model), tree, watch, tokenizer, max_batch=8)

    async def run() -> list[Completions]:
        loop = asyncio.get_running_loop()
        jobs: deque[Job] = deque()
        for number in range(12):  # each asks for 2 x 20 tokens after 90 of its own
            asked = request("", seeds=(0, 1), sampling=Sampling(1.0, 20))
            jobs.append(Job(asked, loop, loop.create_future()))
            jobs[-1].start(tuple(range(number, number + 90)))
        answers = [job.answer for job in jobs]
        while jobs or not batch.is_idle:
            batch.admit(jobs)
            batch.step()
            assert tree.size <= 200
        return await asyncio.gather(*answers)

    assert [len(done.choices) for done in asyncio.run(run())] == [2] * 12
    assert all(node.locks == 0 for node in tree.nodes())


def test_too_little_memory_for_prefixes_only_costs_time(folder):
    # 2 layers x 2 heads x (8 + 8) x 4 bytes = 256 bytes a token: 1 MiB holds 4,096 tokens
    texts = [chr(97 + n) * 1500 for n in range(8)]
    asked = [request(text, sampling=Sampling(0.0, 8)) for text in texts]
    roomy, tight, none = (
        [done.choices[0].text for done in ask(hf(folder, prefix_cache_mb=room), *asked)]
        for room in (64, 1, 0)
    )
    assert roomy == tight == none
