"""Conditions on one side of a join narrow the keys of the other: exactly to those that rows can have."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

from discreet.data import Keys, Limits, Table, compute, fresh_salt
from discreet.data.facts.conditions import joined_narrowing
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery
from discreet.queries import parse
from discreet.queries.binding.bind import bind

CITIES = ["Aachen", "Bonn", "Cologne", "Dachau", "Emden", None]
TABLES = {
    "visits": Table(
        pyarrow.table(
            {
                "patient": np.arange(600) % 200,
                "city": [CITIES[n % 6] for n in range(600)],
                "code": [n % 7 for n in range(600)],
                "year": [2000 + n % 9 for n in range(600)],
            }
        ),
        person="patient",
        limits=Limits(rows=5),
        columns={"city": Keys(CITIES), "code": Keys(range(7)), "year": Keys(range(2000, 2012))},
    ),
    "people": Table(
        pyarrow.table({"patient": np.arange(200), "home": [CITIES[n % 4] for n in range(200)]}),
        person="patient",
        limits=Limits(rows=1),
        columns={"home": Keys(CITIES)},
    ),
    "places": PublicTable(
        pyarrow.table(
            {
                "town": ["Aachen", "Bonn", "Cologne", "Dachau", "Fulda"],
                "region": ["west", "west", "north", "south", None],
                "size": [250, 330, 70, 47, 68],
            }
        )
    ),
    "codes": PublicTable(pyarrow.table({"code": [0, 1, 2, 2, None], "kind": ["x", "y", "y", "z", "x"]})),
}
EVERYTHING = {
    "city": CITIES[:5],
    "town": CITIES[:4],
    "home": CITIES[:5],
    "region": ["west", "north", "south"],
    "size": [250, 330, 70, 47, 68],
    "year": list(range(2000, 2012)),
    "code": list(range(7)),
    "kind": ["x", "y", "z"],
}
JOINED = "visits v JOIN places p ON v.city = p.town"

AT_HOME = "visits v JOIN people h ON v.patient = h.patient AND v.city = h.home"


def asked(key, where, source=JOINED):
    return f"SELECT {key} AS k, COUNT(*) AS n FROM {source} WHERE {where} GROUP BY k"  # noqa: S608


def keys(sql):
    (key,) = bind(parse(sql, TABLES), TABLES).plan.keys
    return set(key.values.values)


NARROWED = {
    ("v.city", "p.region = 'west'", JOINED): {"Aachen", "Bonn"},
    ("p.town", "p.region = 'west'", JOINED): {"Aachen", "Bonn"},
    ("v.city", "p.region IN ('north', 'south') AND p.size > 50", JOINED): {"Cologne"},
    ("p.region", "v.city = 'Cologne'", JOINED): {"north"},
    ("p.region", "p.town <> 'Cologne' AND p.size < 300", JOINED): {"west", "south", None},
    ("v.city", "p.town = 'Bonn' OR p.town = 'Cologne'", JOINED): {"Bonn", "Cologne"},
    ("p.size", "p.region = 'west'", JOINED): {250, 330},
    ("UPPER(p.region)", "v.city IN ('Aachen', 'Cologne')", JOINED): {"WEST", "NORTH"},
    ("v.year", "p.region = 'west'", JOINED): set(range(2000, 2012)),
    ("v.city", "p.region = 'west'", JOINED.replace("JOIN", "LEFT JOIN")): set(CITIES),
    ("c.kind", "v.code = 2", "visits v JOIN codes c ON v.code = c.code"): {"y", "z"},
    ("v.code", "c.kind = 'x'", "visits v JOIN codes c ON v.code = c.code"): {0},
    ("v.city", "h.home = 'Bonn'", AT_HOME): {"Bonn"},
    ("h.home", "v.city = 'Bonn'", AT_HOME): {"Bonn"},
    (
        "v.city",
        "v.year > 1990",
        "visits v JOIN (SELECT patient, home FROM people WHERE home IN ('Bonn', 'Cologne')) AS h "
        "ON v.patient = h.patient AND v.city = h.home",
    ): {"Bonn", "Cologne"},
    (
        "w.city",
        "p.region = 'west'",
        "(SELECT patient, city FROM visits) AS w JOIN places p ON w.city = p.town",
    ): {"Aachen", "Bonn"},
}


@pytest.mark.parametrize(("question", "expected"), NARROWED.items())
def test_keys_are_those_that_rows_of_the_join_can_have(question, expected):
    assert keys(asked(*question)) == expected


@pytest.mark.parametrize("question", NARROWED)
def test_no_row_is_in_a_group_that_was_left_out(question):
    """Counted for all keys that the column could have without conditions, the groups left out are empty."""
    sql = asked(*question)
    kept, everything = keys(sql), EVERYTHING[question[0].split(".")[-1].rstrip(")")]
    if "UPPER" in question[0]:
        everything = [value.upper() for value in everything]
    plan = bind(parse(sql, TABLES).with_keys(k=everything), TABLES).plan
    counts = compute(plan, TABLES, salt=fresh_salt())[plan.measures[0]]
    assert all(count == 0 or value in kept for value, count in zip(everything, counts, strict=True))
    assert counts.sum() > 0


def test_where_nothing_is_left_the_question_is_refused():
    with pytest.raises(UnsupportedQuery, match="leave none of the keys"):
        keys(asked("v.city", "p.region = 'east'"))


def test_long_public_tables_are_not_looked_through(monkeypatch):
    monkeypatch.setattr(joined_narrowing, "_MOST_ROWS", 4)
    assert keys(asked("v.city", "p.region = 'west'")) == {"Aachen", "Bonn", "Cologne", "Dachau"}


def test_private_values_narrow_nothing():
    """Of two tables that differ in private rows alone, the keys are the same."""
    fewer = TABLES["visits"]
    other = Table(
        pyarrow.table({"patient": [1], "city": ["Aachen"], "code": [0], "year": [2000]}),
        person="patient",
        limits=fewer.limits,
        columns=dict(fewer.columns),
    )
    for question in NARROWED:
        sql = asked(*question)
        both = [{**TABLES, "visits": table} for table in (fewer, other)]
        one, two = (bind(parse(sql, tables), tables).plan for tables in both)
        assert one == two
