"""What is known to cost something, what costs nothing, and what nobody knows."""

import asyncio
from datetime import date
from importlib import resources

import pytest
import yaml
from calls.answering import AnsweringLLM, board, request, settings, texts

from drl.calls.prices import FREE, Price, price_of
from drl.errors import ConfigError
from drl.llm.base import Usage


def test_a_listed_model_has_its_listed_price():
    # gpt-4o-mini: 0.15 for a million fresh tokens, 0.075 for cached ones, 0.60 for generated ones
    price = price_of(AnsweringLLM(model="gpt-4o-mini"), {})
    assert price == Price(0.15, 0.075, 0.60)
    used = Usage(tokens_in=2_000_000, tokens_cached=1_000_000, tokens_out=500_000)
    assert price.of(used) == pytest.approx(0.15 + 0.075 + 0.30)


def test_cached_tokens_cost_like_others_where_nothing_else_is_listed():
    assert price_of(AnsweringLLM(model="gpt-4"), {}) == Price(30.0, 30.0, 60.0)


def test_a_model_that_nobody_lists_has_no_price_which_is_not_zero(tmp_path):
    assert price_of(AnsweringLLM(), {}) is None

    async def play():
        with board(tmp_path) as open_board:
            await texts(open_board.line(AnsweringLLM(), asyncio.Semaphore(1)), request())
            return open_board.ledger.to_json()

    assert asyncio.run(play())["agent: answering"]["usd"] == "unknown"


def test_a_model_in_this_process_bills_nobody():
    assert price_of(AnsweringLLM(model="gpt-4o", in_process=True), {}) == FREE


def test_the_config_adds_prices_and_corrects_listed_ones():
    more = {"answering": {"input": 1.0, "output": 2.0}, "gpt-4o": {"input": 3.0, "output": 4.0}}
    assert price_of(AnsweringLLM(), more) == Price(1.0, 1.0, 2.0)
    assert price_of(AnsweringLLM(model="gpt-4o"), more) == Price(3.0, 3.0, 4.0)


@pytest.mark.parametrize(
    "price",
    [{}, {"input": 1.0}, {"input": 1.0, "output": -1.0}, {"input": 1.0, "output": 1.0, "x": 1.0}],
)
def test_half_a_price_is_refused(price):
    with pytest.raises(ConfigError, match=r"calls\.prices\.m=.* must give input and output"):
        settings(prices={"m": price})


def test_the_list_has_a_date_and_a_source_and_only_whole_prices():
    text = (resources.files("drl.calls") / "prices.yaml").read_text(encoding="utf-8")
    listed = yaml.safe_load(text)
    assert isinstance(listed["date"], date)
    assert listed["source"].startswith("https://")
    settings(prices=listed["prices"])
