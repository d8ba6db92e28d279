"""The clinic with what it can be joined with: public tables, and one in which each row is a person."""

from __future__ import annotations

import datetime

import pyarrow

from discreet.data import Limits
from discreet.data.tables.public_table import PublicTable
from queries.clinic import EXAMPLE, row, visits

CITIES = pyarrow.table(
    {
        "name": ["Taipei", "Hamilton", "Oslo", "Rome"],
        "region": ["Asia", "America", "Europe", "Europe"],
        "people": [2600000, 569000, 709000, 2873000],
    }
)
HOLIDAYS = pyarrow.table(
    {
        "day": [datetime.date(2026, 1, 31), datetime.date(2026, 1, 31), datetime.date(2026, 5, 1)],
        "city": ["Taipei", "Oslo", "Oslo"],
        "holiday": ["a", "b", "c"],
    }
)

MORE = [
    row(
        patient=1,
        city="Oslo",
        ward=2,
        age=30,
        cost=4.0,
        balance=2,
        urgent=False,
        day=datetime.date(2026, 2, 3),
    ),
    row(patient=3, city="Taipei", ward=3, age=70, cost=99.25, urgent=True, day=datetime.date(2026, 5, 1)),
    row(patient=None, city="Taipei", age=1),
]
STAFF = [
    row(patient=1, city="Oslo", ward=1, age=55, cost=1.5, balance=1),
    row(patient=3, city="Oslo", ward=3, age=20, cost=7.0, balance=9),
    row(patient=3, city="Rome", ward=1, age=21, balance=-9),
]

RELATED = {
    "visits": visits([*EXAMPLE, *MORE], limits=Limits(rows=3)),
    "staff": visits(STAFF, limits=Limits(groups=2, rows_per_group=4)),
    "people": visits(EXAMPLE),
    "crowd": visits(EXAMPLE),
    "cities": PublicTable(CITIES),
    "holidays": PublicTable(HOLIDAYS),
}
