"""The tools of retail that look things up."""

import json

from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.retail_records import orders, products, users
from drl.domains.tau.tables import Tables


def find_user_id_by_email(tables: Tables, email: str) -> str:
    """The id of the customer with this address, whatever the case of its letters."""
    for user_id, user in users(tables).items():
        if user["email"].lower() == email.lower():
            return user_id
    raise RefusedError("user not found")


def find_user_id_by_name_zip(tables: Tables, first_name: str, last_name: str, zip: str) -> str:
    """The id of the customer of this name, whatever the case of its letters, and zip code."""
    for user_id, user in users(tables).items():
        name = user["name"]
        if (
            name["first_name"].lower() == first_name.lower()
            and name["last_name"].lower() == last_name.lower()
            and user["address"]["zip"] == zip
        ):
            return user_id
    raise RefusedError("user not found")


def get_user_details(tables: Tables, user_id: str) -> str:
    """The record of a customer."""
    if user_id not in users(tables):
        raise RefusedError("user not found")
    return json.dumps(users(tables).read(user_id))


def get_order_details(tables: Tables, order_id: str) -> str:
    """The record of an order."""
    if order_id not in orders(tables):
        raise RefusedError("order not found")
    return json.dumps(orders(tables).read(order_id))


def get_product_details(tables: Tables, product_id: str) -> str:
    """The record of a product, with all its variants."""
    if product_id not in products(tables):
        raise RefusedError("product not found")
    return json.dumps(products(tables).read(product_id))


def list_all_product_types(tables: Tables) -> str:
    """The id of every product by its name, in the order of names."""
    ids = {product["name"]: product["product_id"] for _, product in products(tables).items()}
    return json.dumps(dict(sorted(ids.items())))
