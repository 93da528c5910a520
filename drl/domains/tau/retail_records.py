"""The records of the retail databases, and their tables."""

from typing import NotRequired, TypedDict, cast

from drl.domains.tau.tables import Table, Tables


class Name(TypedDict):
    """Of a customer."""

    first_name: str
    last_name: str


class Address(TypedDict):
    """Of a customer or an order; data version tau1_old says `province` for `state` of users."""

    address1: str
    address2: str
    city: str
    state: str
    country: str
    zip: str


class PaymentMethod(TypedDict):
    """`source` is credit_card, paypal or gift_card; only the last has a balance, in USD."""

    source: str
    id: str
    balance: float


class User(TypedDict):
    """A customer; `orders` are ids."""

    name: Name
    address: Address
    email: str
    payment_methods: dict[str, PaymentMethod]
    orders: list[str]


class Item(TypedDict):
    """One piece of an order."""

    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, str]


class Payment(TypedDict):
    """An amount in USD that was paid or paid back; `transaction_type` is payment or refund."""

    transaction_type: str
    amount: float
    payment_method_id: str


class Order(TypedDict):
    """An order; what comes last is there once a customer asked for it."""

    order_id: str
    user_id: str
    address: Address
    items: list[Item]
    status: str
    payment_history: list[Payment]
    cancel_reason: NotRequired[str]
    return_items: NotRequired[list[str]]
    return_payment_method_id: NotRequired[str]
    exchange_items: NotRequired[list[str]]
    exchange_new_items: NotRequired[list[str]]
    exchange_payment_method_id: NotRequired[str]
    exchange_price_difference: NotRequired[float]


class Variant(TypedDict):
    """One kind of a product, with its price in USD."""

    item_id: str
    options: dict[str, str]
    available: bool
    price: float


class Product(TypedDict):
    """A product and its variants by item id."""

    name: str
    product_id: str
    variants: dict[str, Variant]


def users(tables: Tables) -> Table[User]:
    """Customers by user id."""
    return cast("Table[User]", tables["users"])


def orders(tables: Tables) -> Table[Order]:
    """Orders by order id, which begins with #."""
    return cast("Table[Order]", tables["orders"])


def products(tables: Tables) -> Table[Product]:
    """Products by product id."""
    return cast("Table[Product]", tables["products"])
