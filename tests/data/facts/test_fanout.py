"""How many rows a row may become is known in advance, and too many are refused before anything is charged."""

from __future__ import annotations

import pyarrow
import pytest

import discreet as dp
from discreet.data import Limits, Table, col
from discreet.data.facts.fanout import (
    LARGEST_FAN_OUT,
    LARGEST_MEETING,
    SMALL_FAN_OUT,
    FanOut,
    fan_out,
    is_crowded,
)
from discreet.data.language.relations import (
    Distinct,
    Equality,
    Filter,
    JoinPersons,
    JoinPublic,
    Order,
    PerPerson,
    Personal,
    Source,
    Union,
    Window,
)
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery

ROWS = pyarrow.table({"id": [1, 2], "x": [1, 1]})
TABLES = {
    "t": Table(ROWS, person="id", limits=Limits(rows=5)),
    "ahead": Table(ROWS, person="id", limits=Limits(rows=5), prepare=True),
    "crowd": Table(ROWS, person="id", limits=Limits(rows=100), prepare=True),
    "groups": Table(ROWS, person="id", limits=Limits(groups=5, rows_per_group=2), prepare=True),
    "two": PublicTable(pyarrow.table({"key": [1, 1, 2, None, None, None], "note": list("abcdef")})),
    "many": PublicTable(pyarrow.table({"key": [1] * 1000, "note": list(range(1000))})),
    "more": PublicTable(pyarrow.table({"key": [1] * 10_000})),
    "huge": PublicTable(pyarrow.table({"key": [1] * (LARGEST_FAN_OUT + 1)})),
}
T, AHEAD, CROWD = Source(table="t"), Source(table="ahead"), Source(table="crowd")
ON = (Equality(left="x", right="key"),)
ONE = PerPerson(source=T, columns=(Personal(name="n", function="count"),))


def join(left, right, **options):
    return JoinPersons(left=left, right=right, columns=(), **options)


def public(source, table, **options):
    return JoinPublic(source=source, table=table, on=ON, columns=(), **options)


@pytest.mark.parametrize(
    ("relation", "rows", "person"),
    [
        (T, 1, None),
        (Distinct(source=T), 1, None),
        (AHEAD, 1, 5),
        (Source(table="groups"), 1, None),
        (ONE, 1, 1),
        (Union(sources=(T, T, T)), 3, None),
        (Union(sources=(AHEAD, ONE)), 2, 6),
        (Union(sources=(AHEAD, T)), 2, None),
        (public(T, "two"), 2, None),
        (public(AHEAD, "two", outer=True), 2, 10),
        (public(T, "many"), 1000, LARGEST_MEETING),
        (public(AHEAD, "many"), 1000, 5000),
        (public(CROWD, "many"), 1000, LARGEST_MEETING),
        (public(CROWD, "many", outer=True), 1000, 100 + LARGEST_MEETING),
        (join(T, T), SMALL_FAN_OUT, None),
        (join(T, T, outer=True), SMALL_FAN_OUT + 1, None),
        (join(T, ONE), 1, None),
        (join(ONE, T), 1, None),
        (join(AHEAD, AHEAD), 25, 25),
        (join(join(T, T), T), SMALL_FAN_OUT * 16, None),
        (join(T, join(T, T)), SMALL_FAN_OUT * 16, None),
    ],
)
def test_fan_out_of_plain_cases(relation, rows, person):
    assert fan_out(relation, TABLES) == FanOut(rows=rows, person=person)


def test_only_what_multiplies_is_bounded_before():
    numbered = Window(source=T, name="k", function="row number", order=(Order(column="x"),))
    first = Filter(source=numbered, condition=(col("k") == 1).expression)
    for free in (join(T, ONE), join(ONE, T), join(T, first), join(AHEAD, AHEAD), public(T, "two")):
        assert not is_crowded(free, TABLES)
    for counted in (join(T, T), join(AHEAD, T), public(T, "many"), public(join(T, T), "two")):
        assert is_crowded(counted, TABLES)


def test_no_chain_of_joins_is_refused():
    relation = T
    for _ in range(20):
        relation = join(relation, T)
    assert fan_out(relation, TABLES).rows <= LARGEST_FAN_OUT


def test_parts_are_refused_too():
    each = PerPerson(source=public(T, "huge"), columns=(Personal(name="n", function="count"),))
    crowd = Union(sources=(public(T, "many"),) * 66)
    for relation in (each, PerPerson(source=crowd, columns=each.columns)):
        with pytest.raises(UnsupportedQuery, match="one row could become more than"):
            fan_out(relation, TABLES)


def test_requests_that_multiply_rows_are_refused_for_free(tmp_path):
    clinic = dp.Curator(TABLES, budget=dp.Budget(epsilon=1), ledger=tmp_path / "ledger")
    parts = " UNION ALL ".join(["SELECT t.id FROM t JOIN more ON t.x = more.key"] * 10)
    for source in ("t JOIN huge ON t.x = huge.key", f"({parts}) AS v"):
        with pytest.raises(UnsupportedQuery, match="unite fewer parts"):
            clinic.ask(f"SELECT COUNT(*) AS n FROM {source}", epsilon=1)  # noqa: S608
    # All of the budget is left.
    assert clinic.ask("SELECT COUNT(*) AS n FROM t JOIN t AS u ON t.id = u.id", epsilon=1)
    clinic.close()
