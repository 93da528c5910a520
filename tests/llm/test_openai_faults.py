"""What llm=openai does when a server is slow, broken, down, full or wrongly addressed."""

import asyncio
import logging
import socket
import threading
import time
from collections import Counter
from random import Random

import pytest

from drl.errors import ConfigError
from drl.llm._retry import Patience, Persistence, Trouble
from drl.llm.base import OutageError
from tests.llm.asking import ask, ask_one, make_openai, request
from tests.llm.fake_server import FakeServer
from tests.llm.faults import by_rate, in_turn

PASSING = ("429", "429 ms", "429 bare", "500", "502", "cut", "malformed", "empty", "nothing")
ODD = ("array", "deep")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("fault", [*PASSING, *ODD])
def test_what_may_pass_is_asked_again_and_counted(fault):
    with FakeServer() as server:
        plain = ask_one(make_openai(server.base_url))
    with FakeServer(fault=in_turn(fault, fault)) as server:
        done = ask_one(make_openai(server.base_url))
        assert len(server.requests) == 3
        assert not server.repeats
    assert done.choices == plain.choices
    assert done.retries == 2
    assert plain.retries == 0


def test_a_call_that_takes_too_long_is_asked_again():
    with FakeServer(fault=in_turn("hang")) as server:
        done = ask_one(make_openai(server.base_url, timeout_s=1.0))
        assert [seen.fault for seen in server.requests] == ["hang", None]
    assert done.retries == 1


def test_time_in_the_queue_is_not_time_of_the_call():
    # 12 calls of 0.1 s, one at a time: the last waits longer than the limit, each takes a tenth
    with FakeServer(latency_s=0.1) as server:
        llm = make_openai(server.base_url, timeout_s=1.0, max_concurrency=1)
        done = ask(llm, *(request(seeds=(seed,)) for seed in range(12)))
        assert server.most_in_flight == 1
    assert sum(completions.retries for completions in done) == 0
    assert all(completions.seconds < 1.0 for completions in done)


def test_hundreds_wait_without_harm_and_connections_stay_within_the_limit():
    with FakeServer() as server:
        llm = make_openai(server.base_url, max_concurrency=40)
        done = ask(llm, *(request(f"task {number}") for number in range(600)))
        assert server.most_in_flight <= 40
        assert not server.repeats
    assert len({completions.choices[0].text for completions in done}) == 600
    assert sum(completions.retries for completions in done) == 0


def test_with_many_faults_the_answers_are_those_without():
    rates = dict.fromkeys(("429", "500", "cut", "malformed", "empty"), 0.055) | {"hang": 0.025}
    asked = [request(f"task {number}", seeds=(number,)) for number in range(60)]
    with FakeServer() as server:
        plain = ask(make_openai(server.base_url), *asked)
    with FakeServer(fault=by_rate(rates)) as server:
        done = ask(make_openai(server.base_url, timeout_s=2.0), *asked)
        failed = Counter(seen.fault for seen in server.requests)
        assert not server.repeats
    del failed[None]
    assert [one.choices for one in done] == [one.choices for one in plain]
    assert sum(one.retries for one in done) == failed.total() > 0


def test_when_patience_ends_it_says_what_was_seen_and_how_often():
    faults = in_turn("500", "429", "500", "empty")
    with FakeServer(fault=faults) as server, pytest.raises(OutageError) as caught:
        ask_one(make_openai(server.base_url, max_attempts=4, model="m"))
    message = str(caught.value)
    assert "llm.model=m at http://127.0.0.1:" in message
    assert ": given up after 4 attempts in " in message
    assert "HTTP 500 (it broke) (2 times)" in message
    assert "HTTP 429" in message
    assert "an answer without choices" in message
    assert caught.value.retries == 3


def test_a_server_that_wants_an_hour_is_an_outage_at_once():
    with FakeServer(fault=in_turn("429 hour")) as server:
        with pytest.raises(OutageError, match="HTTP 429"):
            ask_one(make_openai(server.base_url))
        assert len(server.requests) == 1


def test_the_time_a_server_asks_for_is_waited():
    with FakeServer(fault=in_turn("429")) as server:  # Retry-After: 0.02
        done = ask_one(make_openai(server.base_url, retry_s=10.0))
    assert done.retries == 1
    assert done.seconds < 5.0


def test_a_server_that_is_down_is_told_within_seconds():
    address = f"http://127.0.0.1:{free_port()}/v1"
    started = time.monotonic()
    with pytest.raises(OutageError, match=r"given up after 3 attempts.*no connection"):
        ask_one(make_openai(address, max_attempts=50, retry_s=30.0))
    assert time.monotonic() - started < 3.0


def test_a_server_that_restarts_is_waited_for():
    with FakeServer() as server:
        llm = make_openai(server.base_url, retry_s=0.2)

        async def over_a_restart():
            await llm.complete(request("before"))
            server.stop()
            timer = threading.Timer(1.0, server.start)
            timer.start()
            try:
                return await llm.complete(request("after"))
            finally:
                await llm.close()
                timer.join()

        done = asyncio.run(over_a_restart())
    # refused connections are given up after 3 attempts only if nothing was ever answered
    assert done.retries >= 2


def test_a_server_that_was_busy_before_it_restarts_is_waited_for():
    # it has answered nothing yet, but it is there: the short patience is for wrong addresses
    busy, down = Trouble("busy", refused=True), Trouble("down", unreachable=True)
    troubles = iter([busy, down, down, down, down])

    async def attempt(number: int) -> str:
        trouble = next(troubles, None)
        if trouble is not None:
            raise trouble
        return "answer"

    persistence = Persistence(lambda: "m", Patience(max_attempts=8, retry_s=0.01))
    assert asyncio.run(persistence.ask(attempt, Random(0))) == ("answer", 5)


def test_waiting_is_not_silent(caplog):
    with FakeServer(fault=in_turn("500", "500")) as server, caplog.at_level(logging.WARNING):
        ask_one(make_openai(server.base_url, model="m"))
    lines = [r.getMessage() for r in caplog.records if r.name.startswith("drl.")]
    assert len(lines) == 1, "one line in ten seconds is enough"
    where = f"llm.model=m at {server.base_url}"
    assert lines[0].startswith(f"{where}: HTTP 500 (it broke); asking again in ")


def test_of_samples_side_by_side_one_failure_fails_the_request_and_leaves_none_behind():
    def refuse(body):
        return (400, {"message": "not this seed"}) if body["seed"] == 2 else None

    with FakeServer(refuse=refuse, latency_s=0.1) as server:
        llm = make_openai(server.base_url, n_per_request=False)
        with pytest.raises(ConfigError, match="not this seed"):
            ask_one(llm, request(seeds=(1, 2, 3)))
        assert server.answered.total() == 2
        assert server.in_flight == 0


def test_whoever_is_called_away_gives_its_place_back():
    with FakeServer(fault=in_turn("hang")) as server:
        llm = make_openai(server.base_url, max_concurrency=1)

        async def call_away():
            first = asyncio.ensure_future(llm.complete(request("first")))
            queued = asyncio.ensure_future(llm.complete(request("queued")))
            while not server.requests:
                await asyncio.sleep(0.01)
            first.cancel()
            queued.cancel()
            await asyncio.wait([first, queued])
            done = await asyncio.wait_for(llm.complete(request("first")), timeout=5)
            await llm.close()
            return done

        assert asyncio.run(call_away()).choices
