"""What is asked, what is spared, and who gets which answer."""

import asyncio
from dataclasses import replace

import pytest
from calls.answering import AnsweringLLM, board, request, settings, texts, ticks

from drl.calls.cache import prompt_key, sample_key
from drl.calls.ledger import read_entries
from drl.llm.base import Message, OutageError, Request
from drl.types import ToolSpec


def many() -> asyncio.Semaphore:
    return asyncio.Semaphore(64)


def test_siblings_of_one_tick_are_one_request_with_a_seed_each_in_order(tmp_path):
    async def play():
        llm = AnsweringLLM()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, many())
            asked = [request("x", 3), request("y", 5), request("x", 1), request("x", 2)]
            answers = await asyncio.gather(*(texts(line, one) for one in asked))
        return llm.asked, answers

    asked, answers = asyncio.run(play())
    assert [(r.messages[0].content, r.seeds) for r in asked] == [("x", (3, 1, 2)), ("y", (5,))]
    assert answers == [["x/3"], ["y/5"], ["x/1"], ["x/2"]]


def test_a_bill_names_the_adapter_with_the_model(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.adapter = "outputs/learned"
        with board(tmp_path) as open_board:
            await texts(open_board.line(llm, many()), request("x", 1))

    asyncio.run(play())
    (entry,) = read_entries(tmp_path / "calls.jsonl")
    assert entry.model == "answering with outputs/learned"


def test_a_kept_sample_is_not_asked_again_and_the_others_are(tmp_path):
    async def play(*seeds):
        llm = AnsweringLLM()
        with board(tmp_path) as open_board:
            answers = await texts(open_board.line(llm, many()), request("x", *seeds))
        return [r.seeds for r in llm.asked], answers

    assert asyncio.run(play(1, 2)) == ([(1, 2)], ["x/1", "x/2"])
    assert asyncio.run(play(2, 3, 1)) == ([(3,)], ["x/2", "x/3", "x/1"])
    assert asyncio.run(play(1, 2, 3)) == ([], ["x/1", "x/2", "x/3"])


def test_without_a_cache_every_sample_is_asked(tmp_path):
    async def play():
        llm = AnsweringLLM()
        with board(tmp_path, settings(cache=False)) as open_board:
            line = open_board.line(llm, many())
            await texts(line, request("x", 1))
            await texts(line, request("x", 1))
        return [r.seeds for r in llm.asked]

    assert asyncio.run(play()) == [(1,), (1,)]
    assert not (tmp_path / "cache").exists()


def test_a_sample_on_its_way_is_waited_for(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.gate.clear()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, many())
            first = asyncio.ensure_future(texts(line, request("x", 1)))
            await ticks()
            second = asyncio.ensure_future(texts(line, request("x", 2, 1)))
            await ticks()
            llm.gate.set()
            return [r.seeds for r in llm.asked], await first, await second

    assert asyncio.run(play()) == ([(1,), (2,)], ["x/1"], ["x/2", "x/1"])


def test_whoever_gives_up_takes_the_answer_from_nobody(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.gate.clear()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, many())
            first, second = (asyncio.ensure_future(texts(line, request("x", 1))) for _ in range(2))
            await ticks()
            first.cancel()
            await ticks()
            llm.gate.set()
            answer = await second
            return first.cancelled(), answer, len(llm.asked)

    assert asyncio.run(play()) == (True, ["x/1"], 1)


def test_an_error_reaches_everybody_who_waits_and_is_not_kept(tmp_path):
    faults = iter([OutageError("down")])

    async def play():
        llm = AnsweringLLM(fault=lambda request: next(faults, None))
        with board(tmp_path) as open_board:
            line = open_board.line(llm, many())
            waiting = [texts(line, request("x", seed)) for seed in (1, 2, 1)]
            errors = await asyncio.gather(*waiting, return_exceptions=True)
            return [type(error) for error in errors], await texts(line, request("x", 1))

    errors, afterwards = asyncio.run(play())
    assert errors == [OutageError] * 3
    assert afterwards == ["x/1"]


def test_a_request_that_ends_in_an_outage_is_in_the_bill_with_its_retries(tmp_path):
    outage = OutageError("down")
    outage.retries = 7

    async def play():
        llm = AnsweringLLM(fault=lambda request: outage)
        with board(tmp_path) as open_board:
            line = open_board.line(llm, many())
            await asyncio.gather(texts(line, request("x", 1)), return_exceptions=True)

    asyncio.run(play())
    (entry,) = read_entries(tmp_path / "calls.jsonl")
    assert (entry.samples, entry.tokens_in, entry.usd, entry.retries) == (0, 0, 0.0, 7)


@pytest.mark.parametrize("cache", [True, False])
def test_a_model_that_gives_too_few_samples_leaves_nobody_waiting(tmp_path, cache):
    async def play():
        with board(tmp_path, settings(cache=cache)) as open_board:
            line = open_board.line(AnsweringLLM(short=True), many())
            waiting = [texts(line, request("x", seed)) for seed in (1, 2)]
            together = asyncio.gather(*waiting, return_exceptions=True)
            return await asyncio.wait_for(together, timeout=30)

    assert [type(error) for error in asyncio.run(play())] == [ValueError, ValueError]


def test_the_limit_bounds_requests_in_flight(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.gate.clear()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(2))
            waiting = [asyncio.ensure_future(texts(line, request(p))) for p in "abcde"]
            await ticks()
            in_flight = len(llm.asked)
            llm.gate.set()
            await asyncio.gather(*waiting)
            return in_flight, len(llm.asked)

    assert asyncio.run(play()) == (2, 5)


def test_draining_waits_for_what_was_sent_and_sends_nothing_more(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.gate.clear()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(1))
            sent, held = (asyncio.ensure_future(texts(line, request(p))) for p in "ab")
            await ticks()
            draining = asyncio.ensure_future(open_board.drain())
            await ticks()
            assert not draining.done()
            llm.gate.set()
            await draining
            await asyncio.gather(sent, held, return_exceptions=True)
            kept = [e.keys for e in read_entries(tmp_path / "calls.jsonl")]
            await open_board.close()
            return len(llm.asked), sent.result(), held.cancelled(), len(kept), llm.is_closed

    assert asyncio.run(play()) == (1, ["a/1"], True, 1, True)


def test_who_drains_for_a_while_only_keeps_what_came_in_time_and_leaves_nothing_behind(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.gate.clear()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(9))
            sent = asyncio.ensure_future(texts(line, request("a")))
            await ticks()
            await open_board.drain(at_most_s=0.01)
            assert not sent.done()
            await open_board.close()
            await asyncio.gather(sent, return_exceptions=True)
            return sent.cancelled(), llm.is_closed

    assert asyncio.run(play()) == (True, True)


def test_where_samples_are_asked_alone_one_that_fails_does_not_cost_the_others(tmp_path):
    def fault(asked: Request) -> Exception | None:
        return OutageError("out") if asked.seeds == (2,) else None

    async def play():
        llm = AnsweringLLM(takes_several=False, fault=fault)
        with board(tmp_path) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(9))
            with pytest.raises(OutageError):
                await texts(line, request("a", 1, 2, 3))
            await open_board.drain()
            kept = [e.samples for e in read_entries(tmp_path / "calls.jsonl") if e.samples]
            await open_board.close()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(9))
            again = await texts(line, request("a", 1, 3))
            await open_board.close()
        return kept, again, [asked.seeds for asked in llm.asked]

    assert asyncio.run(play()) == ([1, 1], ["a/1", "a/3"], [(1,), (2,), (3,)])


def test_at_temperature_zero_all_seeds_share_one_sample(tmp_path):
    async def play():
        llm = AnsweringLLM()
        with board(tmp_path) as open_board:
            line = open_board.line(llm, many())
            first = await texts(line, request("x", 1, 2, temperature=0))
            again = await texts(line, request("x", 9, temperature=0))
        return [r.seeds for r in llm.asked], first, again

    assert asyncio.run(play()) == ([(1,)], ["x/1", "x/1"], ["x/1"])


def test_whatever_decides_an_answer_is_in_its_key():
    base = request("x", 1)
    others = [
        request("y", 1),
        request("x", 1, temperature=0.5),
        request("x", 1, max_tokens=6),
        replace(base, messages=(Message("system", "x"),)),
        replace(base, tools=(ToolSpec("search", "", {}),)),
        replace(base, tool_choice="none"),
        replace(base, sampling=replace(base.sampling, stop=("END",))),
    ]
    prompts = {prompt_key(AnsweringLLM(), one) for one in [base, *others]}
    prompts.add(prompt_key(AnsweringLLM(model="another"), base))
    assert len(prompts) == len(others) + 2
    prompt = prompt_key(AnsweringLLM(), base)
    assert sample_key(prompt, base, 1) != sample_key(prompt, base, 2)
    greedy = request("x", 1, temperature=0)
    prompt = prompt_key(AnsweringLLM(), greedy)
    assert sample_key(prompt, greedy, 1) == sample_key(prompt, greedy, 2)


def test_who_asks_and_where_does_not_make_another_answer():
    base = request("x", 1)
    moved = replace(base, purpose="judge", place=None)
    assert prompt_key(AnsweringLLM(), base) == prompt_key(AnsweringLLM(), moved)


def test_the_ledger_says_what_was_asked_and_what_was_spared(tmp_path):
    async def play(folder, *seeds):
        with board(folder, cache="../cache") as open_board:
            await texts(open_board.line(AnsweringLLM(), many()), request("x", *seeds))

    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    asyncio.run(play(tmp_path / "first", 1, 2))
    asyncio.run(play(tmp_path / "second", 2, 3))
    (asked,) = read_entries(tmp_path / "first" / "calls.jsonl")
    spared, rest = read_entries(tmp_path / "second" / "calls.jsonl")
    assert (asked.task_id, asked.trial, asked.node, asked.purpose) == ("t1", 0, 3, "agent")
    assert (asked.samples, asked.tokens_in, asked.tokens_cached, asked.tokens_out) == (2, 10, 4, 10)
    assert (asked.seconds, asked.retries, asked.usd, asked.from_cache) == (2.0, 1, None, False)
    # one of the two samples: half of the tokens, and all of the time that both took together
    assert (spared.samples, spared.tokens_in, spared.tokens_cached, spared.tokens_out) == (
        *(1, 5, 2, 5),
    )
    assert (spared.seconds, spared.usd, spared.from_cache) == (2.0, 0.0, True)
    assert spared.began == asked.began
    assert spared.keys == asked.keys[1:]
    assert rest.keys[0] not in asked.keys
    assert (rest.samples, rest.from_cache) == (1, False)


def test_a_run_without_models_leaves_no_files(tmp_path):
    with board(tmp_path):
        pass
    assert not list(tmp_path.iterdir())
