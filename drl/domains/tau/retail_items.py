"""The tools of retail that change, return or exchange the items of an order."""

import json
from collections.abc import Callable, Sequence

from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.retail_orders import (
    credit,
    payment_entry,
    payment_method,
    pending_order,
)
from drl.domains.tau.retail_records import Item, Order, Variant, orders, products
from drl.domains.tau.tables import Tables


def modify_pending_order_items(
    tables: Tables,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> str:
    """Swap items of a pending order for others of the same products, and pay the difference.

    The order then counts as modified and can be neither changed nor cancelled any more. As
    published, the amount is the plain sum of floats in the order of the lists, unrounded.
    """
    order = pending_order(tables, order_id)
    difference = _price_difference(tables, order, item_ids, new_item_ids)
    method = payment_method(tables, order["user_id"], payment_method_id)
    is_gift_card = method["source"] == "gift_card"
    if is_gift_card and method["balance"] < difference:
        raise RefusedError("insufficient gift card balance to pay for the new item")
    order = orders(tables).write(order_id)
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(payment_entry(kind, abs(difference), payment_method_id))
    if is_gift_card:
        credit(tables, order["user_id"], payment_method_id, -difference)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        item = _item(order, item_id)
        variant = products(tables).read(item["product_id"])["variants"][new_item_id]
        item["item_id"] = new_item_id
        item["price"] = variant["price"]
        item["options"] = variant["options"]
    order["status"] = "pending (item modified)"
    return json.dumps(order)


def return_delivered_order_items(
    tables: Tables, order_id: str, item_ids: list[str], payment_method_id: str
) -> str:
    """Ask for items of a delivered order to be sent back."""
    order = _delivered_order(tables, order_id, "returned")
    payment_method(tables, order["user_id"], payment_method_id)
    paid_by = order["payment_history"][0]["payment_method_id"]
    if "gift_card" not in payment_method_id and payment_method_id != paid_by:
        raise RefusedError(
            "payment method should be either the original payment method or a gift card"
        )
    _refuse_absent(order, item_ids, lambda _: "some item not found")
    order = orders(tables).write(order_id)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return json.dumps(order)


def exchange_delivered_order_items(
    tables: Tables,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> str:
    """Ask for items of a delivered order to be swapped for others of the same products.

    No money moves yet. As published, both lists are sorted, so which item becomes which is lost.
    """
    order = _delivered_order(tables, order_id, "exchanged")
    difference = round(_price_difference(tables, order, item_ids, new_item_ids), 2)
    method = payment_method(tables, order["user_id"], payment_method_id)
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise RefusedError("insufficient gift card balance to pay for the price difference")
    order = orders(tables).write(order_id)
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return json.dumps(order)


def _delivered_order(tables: Tables, order_id: str, refusal: str) -> Order:
    if order_id not in orders(tables):
        raise RefusedError("order not found")
    order = orders(tables).read(order_id)
    if order["status"] != "delivered":
        raise RefusedError(f"non-delivered order cannot be {refusal}")
    return order


def _price_difference(
    tables: Tables, order: Order, item_ids: Sequence[str], new_item_ids: Sequence[str]
) -> float:
    """What new items cost more than old ones; 0, and not 0.0, without any.

    Raises:
        RefusedError: the order lacks an old item, or a new one is not for sale.
    """
    _refuse_absent(order, item_ids, lambda item_id: f"{item_id} not found")
    if len(item_ids) != len(new_item_ids):
        raise RefusedError("the number of items to be exchanged should match")
    difference = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        item = _item(order, item_id)
        variant = _for_sale(tables, item["product_id"], new_item_id)
        difference += variant["price"] - item["price"]
    return difference


def _refuse_absent(order: Order, item_ids: Sequence[str], refusal: Callable[[str], str]) -> None:
    """Refuse an item that is named more often than the order has it."""
    present = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > present.count(item_id):
            raise RefusedError(refusal(item_id))


def _item(order: Order, item_id: str) -> Item:
    """The first such item of the order."""
    return next(item for item in order["items"] if item["item_id"] == item_id)


def _for_sale(tables: Tables, product_id: str, item_id: str) -> Variant:
    variants = products(tables).read(product_id)["variants"]
    if item_id not in variants or not variants[item_id]["available"]:
        raise RefusedError(f"new item {item_id} not found or available")
    return variants[item_id]
