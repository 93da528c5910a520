"""How many calls are in flight while a server says that it is too much."""

import asyncio

import pytest

from drl.llm._adaptive import GROWTH, AdaptiveLimit
from tests.llm.asking import ask, make_openai, request
from tests.llm.fake_server import FakeServer
from tests.llm.faults import by_rate


def test_a_refusal_halves_the_limit_and_a_burst_of_them_does_so_once():
    async def burst():
        limit = AdaptiveLimit(64)
        async with limit.place() as first, limit.place() as second, limit.place() as third:
            await asyncio.sleep(0.01)
            cuts = [limit.refused(since, None) for since in (first, second, third)]
        places = [limit.places]
        async with limit.place() as later:  # began after the cut: news
            cuts.append(limit.refused(later, None))
        return cuts, [*places, limit.places]

    assert asyncio.run(burst()) == ([True, False, False, True], [32, 16])


def test_the_limit_grows_with_successes_up_to_where_it_was_and_never_falls_below_one():
    async def follow():
        limit = AdaptiveLimit(2)
        seen = []
        for _ in range(3):
            async with limit.place() as since:
                await asyncio.sleep(0.001)
                limit.refused(since, None)
            seen.append(limit.places)
        limit.succeeded()  # from 1 by GROWTH / 1, but at most to 2
        return [*seen, limit.places]

    assert GROWTH >= 1
    assert asyncio.run(follow()) == [1, 1, 1, 2]


def test_after_a_cut_in_half_800_successes_bring_128_back():
    # from 64 up: 8 places per `limit` successes, so (64 + ... + 128) / 8, about 64 * 96 / 8 = 768
    async def recover():
        limit = AdaptiveLimit(128)
        async with limit.place() as since:
            limit.refused(since, None)
        successes = 0
        while limit.places < 128:
            limit.succeeded()
            successes += 1
        return successes

    assert asyncio.run(recover()) == pytest.approx(768, rel=0.02)


def test_nobody_asks_while_the_server_wants_to_be_left_alone():
    async def leave_alone():
        loop = asyncio.get_running_loop()
        limit = AdaptiveLimit(4)
        async with limit.place() as since:
            limit.refused(since, 0.1)
            limit.refused(since, 0.05)  # a shorter wait does not cut the longer one
        left = loop.time()
        async with limit.place() as entered:
            return entered - left

    assert asyncio.run(leave_alone()) >= 0.09


def test_the_line_is_first_come_first_served_and_skips_who_left():
    async def line():
        limit, order = AdaptiveLimit(1), []

        async def visit(number):
            async with limit.place():
                order.append(number)
                await asyncio.sleep(0)

        async with limit.place():
            waiting = [asyncio.ensure_future(visit(number)) for number in range(5)]
            await asyncio.sleep(0)
            waiting[0].cancel()
            waiting[2].cancel()
            await asyncio.sleep(0)
        await asyncio.wait(waiting)
        await asyncio.wait_for(visit(9), timeout=1)
        return order

    assert asyncio.run(line()) == [1, 3, 4, 9]


def test_whoever_comes_again_waits_at_the_head_of_the_line():
    async def line():
        limit, order = AdaptiveLimit(1), []

        async def visit(number, again):
            async with limit.place(again=again):
                order.append(number)

        async with limit.place():
            waiting = [asyncio.ensure_future(visit(n, again=n == 2)) for n in range(3)]
            await asyncio.sleep(0)
        await asyncio.wait(waiting)
        return order

    assert asyncio.run(line()) == [2, 0, 1]


def test_a_line_of_only_those_who_left_blocks_nobody():
    async def left():
        limit = AdaptiveLimit(1)

        async def visit():
            async with limit.place():
                return True

        async with limit.place():
            gone = asyncio.ensure_future(visit())
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.wait([gone])
        return await asyncio.wait_for(visit(), timeout=1)

    assert asyncio.run(left())


def test_whoever_is_let_in_and_called_away_at_once_leaves_the_place_to_the_next():
    async def called_away():
        limit = AdaptiveLimit(1)

        async def visit():
            async with limit.place():
                return True

        async with limit.place():
            first, second = asyncio.ensure_future(visit()), asyncio.ensure_future(visit())
            await asyncio.sleep(0)
        first.cancel()  # its turn has come, but it has not run yet
        return await asyncio.wait_for(second, timeout=1)

    assert asyncio.run(called_away())


def test_a_server_that_refuses_gets_fewer_calls_at_once():
    def busy(content, attempt):
        return "429" if server.in_flight > 8 else None

    with FakeServer(fault=busy, latency_s=0.02) as server:
        llm = make_openai(server.base_url, max_concurrency=64, max_attempts=30)
        done = ask(llm, *(request(f"task {number}") for number in range(200)))
        refused = sum(seen.fault == "429" for seen in server.requests)
        assert not server.repeats
    assert refused == sum(completions.retries for completions in done)
    # without the limit's help nearly every call beyond 8 of 64 would be refused, again and again
    assert refused < 200


def test_faults_by_rate_come_as_often_as_they_should():
    draw = by_rate({"429": 0.1, "cut": 0.2}, seed=3)
    drawn = [draw(f"request {number}", 1) for number in range(3000)]
    # 3000 draws: a standard deviation of 16 and 22 around 300 and 600
    assert drawn.count("429") == pytest.approx(300, abs=70)
    assert drawn.count("cut") == pytest.approx(600, abs=90)
    assert draw("request 1", 1) == drawn[1]
