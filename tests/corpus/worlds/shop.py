"""A web shop as dashboards see it: people, orders, reviews and events are private, products public."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, days, decimals, gaps, moments

import discreet as dp

PEOPLE, PRODUCTS, ORDERS, REVIEWS, EVENTS = 1500, 60, 6000, 2500, 9000
SOURCES = ["Affiliate", "Facebook", "Google", "Organic", "Twitter"]
STATES = ["CA", "FL", "NY", "TX", "WA", "Île-de-France"]
CATEGORIES = ["Doohickey", "Gadget", "Gizmo", "Widget"]
PAGES = ["cart", "checkout", "home", "product", "search"]
STATUSES = ["cancelled", "complete", "pending", "refunded"]
FIRST, LAST = datetime.date(2023, 1, 1), datetime.date(2024, 12, 31)


def world() -> World:
    """Make the tables."""
    dates = dp.Dates(FIRST, LAST)
    private = {
        "people": Private(
            "id",
            {
                "source": dp.Keys(SOURCES),
                "state": dp.Keys([*STATES, None]),
                "age": dp.Bounds(18, 90),
                "created_at": dates,
                "plan": dp.Keys(["basic", "pro", "team"]),
            },
        ),
        "orders": Private(
            "user_id",
            {
                "product_id": dp.Keys(range(1, PRODUCTS + 1)),
                "subtotal": dp.Bounds(0, 500, step=0.01),
                "tax": dp.Bounds(0, 50, step=0.01),
                "discount": dp.Bounds(0, 100, step=0.01),
                "quantity": dp.Bounds(0, 20),
                "created_at": dates,
                "status": dp.Keys(STATUSES),
            },
        ),
        "reviews": Private(
            "user_id",
            {
                "product_id": dp.Keys(range(1, PRODUCTS + 1)),
                "rating": dp.Bounds(1, 5),
                "created_at": dates,
            },
        ),
        "events": Private(
            "user_id",
            {
                "page": dp.Keys(PAGES),
                "device": dp.Keys(["desktop", "mobile", "tablet"]),
                "happened_at": dates,
                "seconds": dp.Bounds(0, 3600),
            },
        ),
    }
    return World("shop", tables(), private)


def tables() -> dict[str, pyarrow.Table]:
    """Make all rows."""
    draw = np.random.default_rng(72)
    people, products = np.arange(1, PEOPLE + 1), np.arange(1, PRODUCTS + 1)
    joined = draw.integers(0, 600, PEOPLE)
    buyer = draw.choice(people[people % 5 != 0], ORDERS)
    bought = np.minimum(joined[buyer - 1] + draw.integers(0, 400, ORDERS), 730)
    product = np.minimum(draw.zipf(1.4, ORDERS), PRODUCTS)
    subtotal = draw.integers(500, 40000, ORDERS)
    reviewer = draw.choice(people, REVIEWS)
    visitor = draw.choice(people, EVENTS)
    return {
        "products": pyarrow.table(
            {
                "id": products,
                "title": [f"{draw.choice(['Rustic', 'Sleek', 'Größe'])} thing {k}" for k in products],
                "category": [CATEGORIES[k % 4] for k in products],
                "vendor": [f"Vendor {k % 7}" for k in products],
                "price": decimals(draw.integers(500, 20000, PRODUCTS)),
            }
        ),
        "people": pyarrow.table(
            {
                "id": people,
                "name": [f"Person {k}" for k in people],
                "email": [f"p{k}@{draw.choice(['example.com', 'mail.test', 'büro.test'])}" for k in people],
                "source": draw.choice(SOURCES, PEOPLE),
                "state": gaps(draw, draw.choice(STATES, PEOPLE), 0.05),
                "age": gaps(draw, draw.integers(18, 91, PEOPLE), 0.04),
                "plan": draw.choice(["basic", "pro", "team"], PEOPLE, p=[0.6, 0.3, 0.1]),
                "created_at": days("2023-01-01", joined),
            }
        ),
        "orders": pyarrow.table(
            {
                "id": np.arange(1, ORDERS + 1),
                "user_id": buyer,
                "product_id": product,
                "subtotal": decimals(subtotal),
                "tax": decimals(subtotal * 7 // 100),
                "discount": gaps(draw, decimals(draw.integers(0, 5000, ORDERS)), 0.7),
                "quantity": draw.integers(1, 11, ORDERS),
                "status": draw.choice(STATUSES, ORDERS, p=[0.1, 0.7, 0.15, 0.05]),
                "created_at": days("2023-01-01", bought),
            }
        ),
        "reviews": pyarrow.table(
            {
                "user_id": reviewer,
                "product_id": draw.integers(1, PRODUCTS + 1, REVIEWS),
                "rating": draw.choice([1, 2, 3, 4, 5], REVIEWS, p=[0.1, 0.1, 0.2, 0.3, 0.3]),
                "body": draw.choice(["great", "Great value", "it broke", "so-so…", "très bien"], REVIEWS),
                "created_at": days("2023-01-01", draw.integers(0, 731, REVIEWS)),
            }
        ),
        "events": pyarrow.table(
            {
                "user_id": visitor,
                "session": draw.integers(1, 40, EVENTS),
                "page": draw.choice(PAGES, EVENTS, p=[0.1, 0.05, 0.4, 0.3, 0.15]),
                "device": draw.choice(["desktop", "mobile", "tablet"], EVENTS),
                "happened_at": moments("2023-01-01T00:00:00", draw.integers(0, 731 * 86400, EVENTS)),
                "seconds": draw.integers(0, 900, EVENTS),
            }
        ),
    }
