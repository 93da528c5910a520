"""A budget is kept before it is passed."""

import asyncio

import pytest
from calls.answering import AnsweringLLM, board, request, settings, texts, ticks

from drl.calls.budget import BudgetError
from drl.errors import ConfigError

# The prompt "x" as JSON is [[{"role":"user","content":"x","tool_calls":[],"tool_call_id":null}],[]]
# with 72 characters: at 2 characters a token at most 36 tokens, and with 5 generated 41 in all.
# What comes back took 10 + 5.
MOST = 41
TOOK = 15


def asked_until_refused(tmp_path, limit, prompts):
    llm = AnsweringLLM()

    async def play():
        with board(tmp_path, settings(budget_tokens=limit)) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(8))
            for prompt in prompts:
                await texts(line, request(prompt))

    with pytest.raises(BudgetError, match=f"calls.budget_tokens={limit} is used up") as refused:
        asyncio.run(play())
    return len(llm.asked), str(refused.value)


def test_the_request_that_might_pass_the_limit_is_not_sent(tmp_path):
    # after two requests 30 are spent, and a third might come to 30 + 41
    assert asked_until_refused(tmp_path, 2 * TOOK + MOST - 1, "abcd")[0] == 2


def test_the_request_that_just_fits_is_sent(tmp_path):
    assert asked_until_refused(tmp_path, 2 * TOOK + MOST, "abcd")[0] == 3


def test_a_refusal_says_what_to_do(tmp_path):
    message = asked_until_refused(tmp_path, 10, "a")[1]
    assert "0 are spent" in message
    assert "raise it and start the same command again" in message


def test_a_request_waits_for_room_that_others_hold_and_then_goes(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.gate.clear()
        # together they might take 82; once the first is back, 15 are spent and 15 + 41 fit
        with board(tmp_path, settings(budget_tokens=TOOK + MOST)) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(8))
            both = [asyncio.ensure_future(texts(line, request(p))) for p in "ab"]
            await ticks()
            held_back = len(llm.asked)
            llm.gate.set()
            await asyncio.wait_for(asyncio.gather(*both), timeout=30)
            return held_back, len(llm.asked)

    assert asyncio.run(play()) == (1, 2)


def test_who_waits_for_room_is_refused_once_there_will_be_none(tmp_path):
    async def play():
        llm = AnsweringLLM()
        llm.gate.clear()
        with board(tmp_path, settings(budget_tokens=MOST + TOOK - 1)) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(8))
            both = [asyncio.ensure_future(texts(line, request(p))) for p in "ab"]
            await ticks()
            llm.gate.set()
            done = await asyncio.wait_for(asyncio.gather(*both, return_exceptions=True), timeout=30)
            return done[0], type(done[1]), len(llm.asked)

    assert asyncio.run(play()) == (["a/1"], BudgetError, 1)


def test_room_is_given_back_when_a_request_fails(tmp_path):
    faults = iter([RuntimeError("broken")])

    async def play():
        llm = AnsweringLLM(fault=lambda request: next(faults, None))
        with board(tmp_path, settings(budget_tokens=MOST)) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(8))
            with pytest.raises(RuntimeError, match="broken"):
                await texts(line, request("a"))
            return await asyncio.wait_for(texts(line, request("a")), timeout=30)

    assert asyncio.run(play()) == ["a/1"]


def test_dollars_count_like_tokens_and_at_the_dearest_rate(tmp_path):
    # 36 tokens in at 1 dollar each and 5 out at 2 dollars each: at most 46 dollars. What comes
    # back took 6 fresh and 4 cached tokens in and 5 out: 6 + 4 * 0.5 + 10 = 18 dollars.
    prices = {"answering": {"input": 1e6, "cached_input": 0.5e6, "output": 2e6}}

    def num_sent(limit):
        llm = AnsweringLLM()

        async def play():
            calls = settings(budget_usd=limit, prices=prices, cache=False)
            with board(tmp_path / str(limit), calls) as open_board:
                line = open_board.line(llm, asyncio.Semaphore(1))
                for prompt in "abc":
                    await texts(line, request(prompt))

        (tmp_path / str(limit)).mkdir()
        with pytest.raises(BudgetError, match=f"calls.budget_usd={limit} is used up"):
            asyncio.run(play())
        return len(llm.asked)

    assert num_sent(45.9) == 0
    assert num_sent(18 + 46 - 0.1) == 1
    assert num_sent(18 + 46) == 2


def test_what_earlier_starts_spent_counts(tmp_path):
    assert asked_until_refused(tmp_path, TOOK + MOST - 1, "ab")[0] == 1
    assert asked_until_refused(tmp_path, TOOK + MOST - 1, "b")[0] == 0


def test_what_earlier_starts_spent_before_its_price_was_known_counts(tmp_path):
    # as above: 18 dollars for a request that is back, at most 46 for one that is not
    prices = {"answering": {"input": 1e6, "cached_input": 0.5e6, "output": 2e6}}
    limit = 18 + 18 + 46 - 0.1

    async def play(calls, prompts):
        llm = AnsweringLLM()
        with board(tmp_path, calls) as open_board:
            line = open_board.line(llm, asyncio.Semaphore(1))
            for prompt in prompts:
                await texts(line, request(prompt))
            return open_board.ledger.spent_usd

    assert asyncio.run(play(settings(), "a")) == 0.0
    with_price = settings(budget_usd=limit, prices=prices)
    assert asyncio.run(play(with_price, "b")) == 36.0
    with pytest.raises(BudgetError, match="36 are spent"):
        asyncio.run(play(with_price, "c"))


def test_a_prompt_may_be_read_once_for_each_sample(tmp_path):
    # servers that give one sample a call read it twice for two: at most 2 * (36 + 5) = 82 tokens
    async def play(limit):
        with board(tmp_path, settings(budget_tokens=limit)) as open_board:
            line = open_board.line(AnsweringLLM(), asyncio.Semaphore(1))
            return await texts(line, request("x", 1, 2))

    with pytest.raises(BudgetError):
        asyncio.run(play(2 * MOST - 1))
    assert asyncio.run(play(2 * MOST)) == ["x/1", "x/2"]


def test_kept_answers_need_no_budget(tmp_path):
    assert asked_until_refused(tmp_path, MOST, "ab")[0] == 1

    async def again():
        with board(tmp_path, settings(budget_tokens=1)) as open_board:
            return await texts(open_board.line(AnsweringLLM(), asyncio.Semaphore(1)), request("a"))

    assert asyncio.run(again()) == ["a/1"]


@pytest.mark.parametrize("name", ["budget_usd", "budget_tokens"])
def test_a_budget_of_nothing_is_refused(name):
    with pytest.raises(ConfigError, match=f"calls.{name}=0 must be positive; use null"):
        settings(**{name: 0})
