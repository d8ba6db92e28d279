"""What the tests and manuals of other private SQL systems ask about: a survey, items, advertisements."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, days, decimals, gaps, moments

import discreet as dp

PERSONS, USERS, DEVICES = 3000, 1400, 2000
ITEMS = ["pen", "pencil", "scissors", "ruler", "größerer Block"]
FIRST, LAST = datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)


def world() -> World:
    """Make the tables."""
    draw = np.random.default_rng(76)
    census = {
        "age": dp.Bounds(0, 100),
        "sex": dp.Keys(["0", "1"]),
        "educ": dp.Bounds(1, 16),
        "race": dp.Keys(["asian", "black", "other", "white"]),
        "income": dp.Bounds(0, 500000),
        "married": dp.Keys([False, True]),
    }
    dates = dp.Dates(FIRST, LAST)
    private = {
        "pums": Private("pid", census),
        "pums_row": Private(dp.EACH_ROW, census),
        "items": Private("uid", {"quantity": dp.Bounds(0, 150), "cost": dp.Bounds(0, 200, step=0.01)}),
        "trips": Private(
            "driver",
            {
                "city_id": dp.Keys([1, 2, 3, 4]),
                "fare": dp.Bounds(0, 200, step=0.01),
                "status": dp.Keys(["canceled", "completed", "failed", None]),
                "request_at": dates,
            },
        ),
        "drivers": Private("id", {"rating": dp.Bounds(1, 5, step=0.1), "home_city": dp.Keys([1, 2, 3, 4])}),
        "impressions": Private(
            "device_id",
            {
                "campaign": dp.Keys(["autumn", "spring", "winter"]),
                "seen_at": dates,
                "cost_micros": dp.Bounds(0, 9000),
            },
        ),
        "purchases": Private("device_id", {"amount": dp.Bounds(0, 500, step=0.01), "bought_at": dates}),
        "patients": Private(
            "patient_id",
            {
                "age": dp.Bounds(0, 110),
                "diagnosis": dp.Keys(["asthma", "diabetes", "influenza", "none"]),
                "zip": dp.Keys(["02138", "10001", "94110", None]),
                "cholesterol": dp.Bounds(80, 400),
                "admitted": dates,
            },
        ),
    }
    return World("survey", tables(draw) | logs(draw), private)


def tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Persons with one row each, and what is public."""
    survey = {
        "pid": np.arange(PERSONS),
        "age": gaps(draw, draw.integers(18, 95, PERSONS), 0.02),
        "sex": draw.choice(["0", "1"], PERSONS),
        "educ": draw.integers(1, 17, PERSONS),
        "race": draw.choice(["asian", "black", "other", "white"], PERSONS, p=[0.2, 0.2, 0.1, 0.5]),
        "income": gaps(draw, np.minimum(draw.lognormal(10, 1, PERSONS), 500000).astype(np.int64), 0.03),
        "married": draw.random(PERSONS) < 0.5,
    }
    count = 1500
    return {
        "pums": pyarrow.table(survey),
        "pums_row": pyarrow.table({name: values for name, values in survey.items() if name != "pid"}),
        "education": pyarrow.table(
            {
                "code": np.arange(1, 17),
                "label": [f"level {k}" for k in range(1, 17)],
                "years": np.arange(16) + 4,
            }
        ),
        "cities": pyarrow.table(
            {
                "id": [1, 2, 3, 4],
                "name": ["Zürich", "Oslo", "Lima", "Quito"],
                "country": ["CH", "NO", "PE", "EC"],
            }
        ),
        "drivers": pyarrow.table(
            {
                "id": np.arange(700),
                "home_city": draw.integers(1, 5, 700),
                "rating": gaps(draw, draw.integers(10, 51, 700) / 10, 0.05),
                "banned": draw.random(700) < 0.05,
            }
        ),
        "patients": pyarrow.table(
            {
                "patient_id": [f"P{k}" for k in range(count)],
                "age": draw.integers(0, 100, count),
                "diagnosis": draw.choice(["asthma", "diabetes", "influenza", "none"], count),
                "zip": gaps(draw, draw.choice(["02138", "10001", "94110"], count), 0.06),
                "cholesterol": gaps(draw, draw.integers(100, 320, count), 0.2),
                "admitted": days("2024-01-01", draw.integers(0, 366, count)),
            }
        ),
    }


def logs(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Tables with several rows of a person."""
    count, rides, seen, bought = 6000, 5000, 8000, 1800
    return {
        "items": pyarrow.table(
            {
                "uid": draw.integers(0, USERS, count),
                "item": draw.choice(ITEMS, count, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
                "quantity": draw.integers(1, 120, count),
                "cost": decimals(draw.integers(10, 15000, count)),
            }
        ),
        "trips": pyarrow.table(
            {
                "id": np.arange(rides),
                "driver": draw.integers(0, 700, rides),
                "city_id": draw.integers(1, 5, rides),
                "fare": gaps(draw, decimals(draw.integers(300, 15000, rides)), 0.04),
                "status": gaps(
                    draw, draw.choice(["canceled", "completed", "failed"], rides, p=[0.1, 0.85, 0.05]), 0.02
                ),
                "request_at": days("2024-01-01", draw.integers(0, 366, rides)),
            }
        ),
        "impressions": pyarrow.table(
            {
                "device_id": draw.integers(0, DEVICES, seen),
                "campaign": draw.choice(["autumn", "spring", "winter"], seen),
                "site": draw.choice(
                    ["news.example", "chat.example", "jeux.example"], seen, p=[0.6, 0.3, 0.1]
                ),
                "seen_at": moments("2024-01-01T00:00:00", draw.integers(0, 366 * 86400, seen)),
                "cost_micros": draw.integers(100, 8000, seen),
            }
        ),
        "purchases": pyarrow.table(
            {
                "device_id": draw.integers(0, DEVICES, bought),
                "amount": decimals(draw.integers(100, 45000, bought)),
                "bought_at": moments("2024-01-01T00:00:00", draw.integers(0, 366 * 86400, bought)),
            }
        ),
    }
