"""The tools of retail that change a pending order as a whole, or where a customer lives.

Every check stands where tau-bench has it: what it says depends on the order.
"""

import json
from collections.abc import Sequence
from typing import Final

from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.retail_records import Address, Order, Payment, PaymentMethod, orders, users
from drl.domains.tau.tables import Tables

_REASONS: Final = ("no longer needed", "ordered by mistake")


def cancel_pending_order(tables: Tables, order_id: str, reason: str) -> str:
    """Cancel an order and pay back every entry of its history, refunds among them."""
    order = cancellable(tables, order_id, reason)
    return cancel(tables, order, reason, order["payment_history"])


def modify_pending_order_address(
    tables: Tables,
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,
) -> str:
    """Send a pending order elsewhere."""
    pending_order(tables, order_id)
    order = orders(tables).write(order_id)
    order["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(order)


def modify_pending_order_payment(tables: Tables, order_id: str, payment_method_id: str) -> str:
    """Pay a pending order by another method of the customer's; the first is paid back."""
    order = pending_order(tables, order_id)
    method = payment_method(tables, order["user_id"], payment_method_id)
    history = order["payment_history"]
    if len(history) > 1 or history[0]["transaction_type"] != "payment":
        raise RefusedError("there should be exactly one payment for a pending order")
    if history[0]["payment_method_id"] == payment_method_id:
        raise RefusedError("the new payment method should be different from the current one")
    amount = history[0]["amount"]
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise RefusedError("insufficient gift card balance to pay for the order")
    order = orders(tables).write(order_id)
    first = order["payment_history"][0]["payment_method_id"]
    order["payment_history"] += [
        payment_entry("payment", amount, payment_method_id),
        payment_entry("refund", amount, first),
    ]
    if method["source"] == "gift_card":
        credit(tables, order["user_id"], payment_method_id, -amount)
    if "gift_card" in first:
        credit(tables, order["user_id"], first, amount)
    return json.dumps(order)


def modify_user_address(
    tables: Tables,
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,
) -> str:
    """Note where a customer has moved."""
    if user_id not in users(tables):
        raise RefusedError("user not found")
    user = users(tables).write(user_id)
    user["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(user)


def pending_order(tables: Tables, order_id: str, refusal: str = "modified") -> Order:
    """An order to be read that can still be changed."""
    if order_id not in orders(tables):
        raise RefusedError("order not found")
    order = orders(tables).read(order_id)
    if order["status"] != "pending":
        raise RefusedError(f"non-pending order cannot be {refusal}")
    return order


def payment_method(tables: Tables, user_id: str, payment_method_id: str) -> PaymentMethod:
    """A method of the customer's, to be read."""
    methods = users(tables).read(user_id)["payment_methods"]
    if payment_method_id not in methods:
        raise RefusedError("payment method not found")
    return methods[payment_method_id]


def credit(tables: Tables, user_id: str, payment_method_id: str, amount: float) -> None:
    """Put an amount on a gift card, or take a negative one from it."""
    method = users(tables).write(user_id)["payment_methods"][payment_method_id]
    method["balance"] = round(method["balance"] + amount, 2)


def payment_entry(kind: str, amount: float, payment_method_id: str) -> Payment:
    """An entry of a payment history."""
    return {
        "transaction_type": kind,
        "amount": amount,
        "payment_method_id": payment_method_id,
    }


def cancellable(tables: Tables, order_id: str, reason: str) -> Order:
    """An order to be read that may be cancelled for this reason."""
    order = pending_order(tables, order_id, "cancelled")
    if reason not in _REASONS:
        raise RefusedError("invalid reason")
    return order


def cancel(tables: Tables, order: Order, reason: str, paid: Sequence[Payment]) -> str:
    """Cancel the order and pay back these entries; those of gift cards at once."""
    refunds: list[Payment] = []
    for payment in paid:
        method_id, amount = payment["payment_method_id"], payment["amount"]
        refunds.append(payment_entry("refund", amount, method_id))
        if "gift_card" in method_id:
            credit(tables, order["user_id"], method_id, amount)
    order = orders(tables).write(order["order_id"])
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"] += refunds
    return json.dumps(order)


def _address(
    address1: str, address2: str, city: str, state: str, country: str, zip_code: str
) -> Address:
    return {
        "address1": address1,
        "address2": address2,
        "city": city,
        "state": state,
        "country": country,
        "zip": zip_code,
    }
