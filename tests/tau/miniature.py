"""A shop and an airline of three records each, in the layout of tau-bench; the content is ours."""

import asyncio
import copy
from typing import Any

from drl.domains.tau.tables import Tables
from drl.domains.tau.world import Scene, World
from drl.environment.base import Session
from drl.types import Brief, Goal, Task, Toolbox, ToolCall, ToolResult, ToolSpec

Json = Any  # records are plain JSON

HOME = {
    "address1": "1 Elm St",
    "address2": "",
    "city": "Ulm",
    "country": "DE",
    "state": "BW",
    "zip": "1",
}
SHOP: Json = {
    "users": {
        "ann_lee_1": {
            "name": {"first_name": "Ann", "last_name": "Lee"},
            "address": HOME,
            "email": "ann@example.org",
            "payment_methods": {
                "gift_card_1": {"source": "gift_card", "balance": 50, "id": "gift_card_1"},
                "paypal_1": {"source": "paypal", "id": "paypal_1"},
            },
            "orders": ["#W1", "#W2"],
        }
    },
    "orders": {
        number: {
            "order_id": number,
            "user_id": "ann_lee_1",
            "address": HOME,
            "items": [
                {"name": "Lamp", "product_id": "7", "item_id": "71", "price": 20.5, "options": {}}
            ],
            "fulfillments": [],
            "status": status,
            "payment_history": [
                {
                    "transaction_type": "payment",
                    "amount": 20.5,
                    "payment_method_id": "gift_card_1",
                }
            ],
        }
        for number, status in (("#W1", "pending"), ("#W2", "delivered"))
    },
    "products": {
        "7": {
            "name": "Lamp",
            "product_id": "7",
            "variants": {
                item: {"item_id": item, "options": {"hue": item}, "available": True, "price": price}
                for item, price in (("71", 20.5), ("72", 30.75))
            },
        }
    },
}


def _flight(number: str, origin: str, destination: str, leaves: str, lands: str) -> Json:
    def day(price: int) -> Json:
        return {
            "status": "available",
            "available_seats": {"economy": 2, "business": 2},
            "prices": {"economy": price, "business": 3 * price},
        }

    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": leaves,
        "scheduled_arrival_time_est": lands,
        "dates": {"2024-05-08": day(100), "2024-05-09": day(140), "2024-05-20": day(100)},
    }


AIRLINE: Json = {
    "users": {
        "ben_roe_2": {
            "name": {"first_name": "Ben", "last_name": "Roe"},
            "address": HOME,
            "payment_methods": {
                "credit_card_2": {"source": "credit_card", "id": "credit_card_2"},
                "gift_card_2": {"source": "gift_card", "amount": 300, "id": "gift_card_2"},
            },
            "reservations": ["RRR222"],
        }
    },
    "reservations": {
        "RRR222": {
            "reservation_id": "RRR222",
            "user_id": "ben_roe_2",
            "origin": "SFO",
            "destination": "JFK",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [
                {
                    "origin": "SFO",
                    "destination": "JFK",
                    "flight_number": "F1",
                    "date": "2024-05-20",
                    "price": 90,
                }
            ],
            "passengers": [{"first_name": "Ben", "last_name": "Roe", "dob": "1990-01-01"}],
            "payment_history": [{"payment_id": "credit_card_2", "amount": 90}],
            "created_at": "2024-05-01T00:00:00",
            "total_baggages": 0,
            "nonfree_baggages": 0,
            "insurance": "no",
        }
    },
    "flights": {
        "F1": _flight("F1", "SFO", "JFK", "20:00:00", "04:00:00+1"),
        "F2": _flight("F2", "JFK", "BOS", "06:00:00", "07:00:00"),
    },
}
BOOKING: Json = {
    "user_id": "ben_roe_2",
    "origin": "JFK",
    "destination": "BOS",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [{"flight_number": "F2", "date": "2024-05-08"}],
    "passengers": [{"first_name": "Ben", "last_name": "Roe", "dob": "1990-01-01"}],
    "payment_methods": [{"payment_id": "credit_card_2", "amount": 100}],
    "total_baggages": 0,
    "nonfree_baggages": 0,
    "insurance": "no",
}
"""A booking that the airline accepts."""


def database(domain: str) -> Json:
    """A fresh copy of the shop's or the airline's databases."""
    return copy.deepcopy(SHOP if domain == "retail" else AIRLINE)


def task_of(domain: Json, *goals: Goal) -> Task:
    """A task in the shop or at the airline."""
    spec = ToolSpec("think", "Thinks", {"type": "object", "properties": {}})
    world = World(domain, "miniature", Tables.of(database(domain)), Toolbox((spec,)))
    return Task("tau", "test", Brief(()), goals, Scene(world, 0, "ann_lee_1", "", (), ()))


def call(session: Session, tool: str, /, **arguments: object) -> ToolResult:
    """What one call gives."""
    return asyncio.run(session.call(ToolCall(tool, arguments)))  # type: ignore[arg-type]
