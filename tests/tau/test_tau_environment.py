"""What the tau-bench environment answers beyond the published cases."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tau.miniature import BOOKING, call, database, task_of

from drl.domains.tau.digest import full_digest
from drl.domains.tau.tools import tools_of
from drl.environment.tau import TauEnvironment
from drl.errors import ConfigError
from drl.types import Goal, ToolCall, ToolResult

FAITHFUL = TauEnvironment(mode="faithful")
FIXED = TauEnvironment(mode="fixed")
BOTH = pytest.mark.parametrize("environment", [FAITHFUL, FIXED])
DOMAINS = pytest.mark.parametrize("domain", ["retail", "airline"])
CANCEL = Goal("cancel_pending_order", "retail", {"order_id": "#W1", "reason": "no longer needed"})


def test_unknown_mode_is_refused():
    with pytest.raises(ConfigError, match=r"environment\.mode=lenient .* use faithful or fixed"):
        TauEnvironment(mode="lenient")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("domain", "num_tools", "num_writing"), [("retail", 16, 7), ("airline", 14, 6)]
)
def test_each_domain_has_its_tools(domain, num_tools, num_writing):
    tools = tools_of(domain, "faithful")
    assert len(tools) == num_tools
    assert sum(tool.writes for tool in tools.values()) == num_writing
    assert tools.keys() == tools_of(domain, "fixed").keys()
    for name, tool in tools.items():
        assert tools_of(domain, "fixed")[name].parameters == tool.parameters


@BOTH
def test_a_transfer_ends_the_dialogue_whatever_its_arguments(environment):
    session = environment.open(task_of("retail"))
    done = call(session, "transfer_to_human_agents", summary="too hard")
    assert done == ToolResult("Transfer successful", ends=True)
    assert call(session, "transfer_to_human_agents").ends
    assert not call(session, "think", thought="hm").ends


@BOTH
def test_an_unknown_tool_is_named_in_the_answer(environment):
    result = call(environment.open(task_of("retail")), "book_reservation", **BOOKING)
    assert result.value == result.error == "Unknown action book_reservation"


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("think", {}, "Think.invoke() missing 1 required positional argument: 'thought'"),
        (
            "cancel_pending_order",
            {},
            "CancelPendingOrder.invoke() missing 2 required positional arguments: "
            "'order_id' and 'reason'",
        ),
        (
            "find_user_id_by_name_zip",
            {},
            "FindUserIdByNameZip.invoke() missing 3 required positional arguments: "
            "'first_name', 'last_name', and 'zip'",
        ),
        ("think", {"x": 1}, "Think.invoke() got an unexpected keyword argument 'x'"),
        ("get_order_details", {"order_id": ["#W1"]}, "unhashable type: 'list'"),
        ("find_user_id_by_email", {"email": 3}, "'int' object has no attribute 'lower'"),
    ],
)
def test_arguments_that_do_not_fit_are_answered_in_python_s_words(tool, arguments, text):
    result = call(FAITHFUL.open(task_of("retail")), tool, **arguments)
    assert result.value == result.error == f"Error: {text}"


def nested(depth):
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


@BOTH
@pytest.mark.parametrize(
    "junk",
    [
        nested(100_000),
        [{"a": nested(80)}],
        10**5000,
        -(10**400),
        {1, 2},
        object(),
        b"bytes",
        "9" * 200_000,
        "9" * 2_000_000,
        float("nan"),
        float("inf"),
        "\ud800",
        {"\ud800": "\ud800"},
        None,
        [],
        {},
    ],
    ids=lambda junk: type(junk).__name__,
)
@DOMAINS
def test_nonsense_in_any_argument_never_raises_and_leaves_a_state_with_a_hash(
    environment, domain, junk
):
    session = environment.open(task_of(domain))
    right = BOOKING | database(domain)["users"].get("ann_lee_1", {}).get("address", {})
    right |= {
        "order_id": "#W1",
        "item_ids": ["71"],
        "new_item_ids": ["72"],
        "reservation_id": "RRR222",
        "payment_id": "gift_card_2",
        "payment_method_id": "gift_card_1",
        "user_id": "ann_lee_1" if domain == "retail" else "ben_roe_2",
    }
    for tool in tools_of(domain, environment.mode).values():
        for nonsense in tool.parameters:
            arguments = {name: right.get(name, "x") for name in tool.parameters}
            branch = session.fork()
            json.dumps(call(branch, tool.name, **arguments | {nonsense: junk}).value)
            assert len(branch.digest()) == 64


@BOTH
@pytest.mark.parametrize("arguments", [None, [], "x", 3])
def test_arguments_that_are_no_object_are_an_error(environment, arguments):
    task = task_of("retail", CANCEL)
    bad = ToolCall("cancel_pending_order", arguments)
    result = asyncio.run(environment.open(task).call(bad))
    assert result.value == result.error == "Error: arguments must be an object of names and values"
    assert not environment.achieves(CANCEL, bad, result, task.goals)


def test_records_share_nothing_with_the_arguments_of_a_call():
    session = FAITHFUL.open(task_of("airline"))
    arguments = BOOKING | {"passengers": [dict(BOOKING["passengers"][0])]}
    call(session, "book_reservation", **arguments)
    before = session.digest()
    arguments["passengers"].append("somebody else")
    call(session, "cancel_reservation", reservation_id="HATHAT")
    assert len(arguments["payment_methods"]) == 1
    fresh = FAITHFUL.open(task_of("airline"))
    call(fresh, "book_reservation", **BOOKING)
    assert fresh.digest() == before


def test_a_float_where_a_whole_number_was_meant_is_another_state():
    whole, real = (FAITHFUL.open(task_of("airline")) for _ in range(2))
    call(whole, "book_reservation", **BOOKING)
    call(real, "book_reservation", **BOOKING | {"total_baggages": 0.0})
    assert whole.digest() != real.digest()


def test_a_gold_action_counts_in_faithful_whatever_it_returned():
    wrong = Goal("get_product_details", "retail", {"product_id": "71"})
    task = task_of("retail", wrong)
    exact = FAITHFUL.exact_call(wrong)
    result = call(FAITHFUL.open(task), exact.name, **exact.arguments)
    assert result.value == "Error: product not found"
    assert FAITHFUL.achieves(wrong, exact, result, task.goals)
    assert not FIXED.achieves(wrong, exact, result, task.goals)
    assert FIXED.explain(task, wrong, result) == "get_product_details: product not found"


@BOTH
@pytest.mark.parametrize(
    ("arguments", "is_reached"),
    [
        ({"order_id": "#W1", "reason": "no longer needed"}, True),
        ({"reason": "no longer needed", "order_id": "#W1"}, True),
        ({"order_id": "#W1", "reason": "ordered by mistake"}, False),
        ({"order_id": "#W1"}, False),
        ({"order_id": "#W1", "reason": "no longer needed", "x": 1}, False),
    ],
)
def test_a_goal_is_reached_by_equal_arguments_in_any_order(environment, arguments, is_reached):
    made = ToolCall("cancel_pending_order", arguments)
    assert environment.achieves(CANCEL, made, ToolResult("{}"), [CANCEL]) == is_reached


def test_causes_hold_no_values_of_the_data():
    told = {
        "flight HAT001 not found on date 2024-07-20": "flight … not found on date …",
        "payment amount does not add up, total price is 122, but paid 0.5": (
            "payment amount does not add up, total price is … but paid …"
        ),
        "'first_name'": "…",
    }
    for error, cause in told.items():
        result = ToolResult(f"Error: {error}", error=f"Error: {error}")
        explained = FAITHFUL.explain(task_of("retail"), CANCEL, result)
        assert explained == f"cancel_pending_order: {cause}"


CALLS = st.sampled_from(
    [
        ("cancel_pending_order", {"order_id": "#W1", "reason": "no longer needed"}),
        ("modify_pending_order_payment", {"order_id": "#W1", "payment_method_id": "paypal_1"}),
        (
            "modify_pending_order_items",
            {
                "order_id": "#W1",
                "item_ids": ["71"],
                "new_item_ids": ["72"],
                "payment_method_id": "gift_card_1",
            },
        ),
        (
            "return_delivered_order_items",
            {"order_id": "#W2", "item_ids": ["71"], "payment_method_id": "gift_card_1"},
        ),
        (
            "exchange_delivered_order_items",
            {
                "order_id": "#W2",
                "item_ids": ["71"],
                "new_item_ids": ["72"],
                "payment_method_id": "paypal_1",
            },
        ),
    ]
)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), CALLS), max_size=12))
def test_a_forked_branch_answers_as_if_it_had_been_alone(moves):
    """Each branch is compared with a fresh session that makes the same calls and no others."""
    asyncio.run(compare(moves))


async def compare(moves):
    branches = [(FAITHFUL.open(task_of("retail")), [])]
    for number, forks, (tool, arguments) in moves:
        session, history = branches[number % len(branches)]
        if forks:
            branches.append((session.fork(), list(history)))
        made = ToolCall(tool, arguments)
        history.append((made, await session.call(made)))
    for session, history in branches:
        alone = FAITHFUL.open(task_of("retail"))
        assert [await alone.call(made) for made, _ in history] == [result for _, result in history]
        assert session.digest() == alone.digest()


@DOMAINS
def test_an_untouched_session_has_the_hash_of_the_whole_database(domain):
    assert FAITHFUL.open(task_of(domain)).digest() == full_digest(database(domain))
