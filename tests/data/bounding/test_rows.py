"""Contingency tables on every engine: which cell a row is in, and what is left out."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pyarrow
import pytest

from data import oracle, strategies
from data.strategies import CITY, COST, DAYS, PERSON
from data.test_behavior import SALT, row, totals
from discreet.data import (
    Axis,
    Bounds,
    ContingencyTable,
    CountRows,
    Group,
    GroupKey,
    Histogram,
    Keys,
    Limits,
    Source,
    compute,
)
from discreet.data.engines import base as engine_module

SOURCE = Source(table="t")
NAN, INFINITY = float("nan"), float("inf")


def table(*axes):
    return ContingencyTable(axes=tuple(Axis(column=name, values=of, width=width) for name, of, width in axes))


def counts(engine, rows, *measures, columns, limits=None):
    """What an engine computes, after it was compared with the oracle."""
    plan = Group(source=SOURCE, measures=measures)
    found = totals(engine, plan, rows, columns, limits)
    assert found == oracle.compute(plan, rows, None if limits is None else PERSON, limits, SALT)
    return found


COSTS = [-1e300, -3.3, -3.0, -2.76, 0.0, -0.0, 0.24, 0.25, 6.9, 7.0, 1e300, NAN, INFINITY, -INFINITY, None]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        # From -3 in halves to 7: 21 grid points, 5 to a cell, 1 in the last.
        (Bounds(-3, 7, step=0.5), [5, 4, 0, 0, 4]),
        (Bounds(-3, 7, step=0.5, nan=7, null=-3), [6, 4, 0, 0, 5]),
        (Bounds(-3, 7, step=0.5, nan=1.5, infinity="drop", null=6.5), [4, 5, 0, 1, 3]),
        (Bounds(-3, 7, step=0.5, infinity=2), [4, 4, 2, 0, 3]),
    ],
)
def test_special_values_have_the_cells_that_their_rules_say(engine, bounds, expected):
    rows = [row(number, cost=cost) for number, cost in enumerate(COSTS)]
    [found] = counts(engine, rows, table((COST, bounds, 5)), columns={COST: bounds})
    assert found == expected
    for width in (21, 22, 2**80):
        [whole] = counts(engine, rows, table((COST, bounds, width)), columns={COST: bounds})
        assert whole == [sum(expected)]


KEYS = {
    CITY: Keys(["O'Hare", None, "Taipei"]),
    "flag": Keys([False, None]),
    "level": Keys([3, -3, 0, 1]),
    "day": Keys([DAYS[3], None, *DAYS[:2]]),
}


def some_rows(many):
    random.seed(23)
    return [
        row(
            random.choice([1, 2, 3, 4, None]),
            city=random.choice(["O'Hare", "Taipei", "elsewhere", None]),
            flag=random.choice([True, False, None]),
            level=random.choice([3, -3, 0, 1, 2, None]),
            day=random.choice([*DAYS, None]),
            age=random.choice([*strategies.INTEGERS, *range(20, 60, 7), None]),
            cost=random.choice([*strategies.FLOATS, *strategies.SPECIAL, None]),
        )
        for _ in range(many)
    ]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "limits", [Limits(rows=5), Limits(groups=2, rows_per_group=4), None], ids=["rows", "groups", "each"]
)
def test_tables_of_every_kind_of_axis(engine, limits):
    """All pairs, triples and single axes of six columns, beside other measures, in groups and without."""
    columns = {**KEYS, "age": Bounds(18, 65), COST: Bounds(-3, 50, step=0.5, nan=1, null=-3)}
    axes = [
        Axis(column=name, values=of, width=1 if isinstance(of, Keys) else 12) for name, of in columns.items()
    ]
    tables = [
        ContingencyTable(axes=chosen)
        for size in (1, 2, 3)
        for chosen in list(itertools.permutations(axes, size))[:: 2 * size - 1]
    ]
    measures = (*tables[:9], CountRows(), Histogram(column=CITY, values=KEYS[CITY]), *tables[9:])
    rows, person = some_rows(80), None if limits is None else PERSON
    for keys in ((), (GroupKey(column=CITY, values=KEYS[CITY]),)):
        plan = Group(source=SOURCE, keys=keys, measures=measures)
        expected = oracle.compute(plan, rows, person, limits, SALT)
        assert totals(engine, plan, rows, columns, limits) == expected


def test_the_last_axis_is_the_fastest(engine):
    columns = {"level": Bounds(0, 5), "flag": Keys([True, False]), CITY: Keys(["a", "b", "c"])}
    rows = [row(1, level=5, flag=True, city="b"), row(2, level=-7, flag=False, city="c")]
    measure = table(("level", columns["level"], 4), ("flag", columns["flag"], 1), (CITY, columns[CITY], 1))
    [found] = counts(engine, rows, measure, columns=columns)
    assert np.argwhere(np.reshape(found, (2, 2, 3))).tolist() == [[0, 1, 2], [1, 0, 1]]
    assert np.flatnonzero(found).tolist() == [5, 7]


def test_a_row_without_a_cell_on_some_axis_is_left_out(engine):
    columns = {CITY: Keys(["a"]), "level": Bounds(0, 5), "flag": Keys([True, None])}
    rows = [
        row(1, city="a", level=1, flag=None),
        row(2, city="b", level=1, flag=True),
        row(3, city="a", level=None, flag=True),
        row(4, city="a", level=1, flag=False),
        row(5, city=None, level=1, flag=True),
    ]
    measure = table(*((name, of, 1) for name, of in columns.items()))
    for limits in (Limits(rows=1), Limits(groups=1, rows_per_group=1), None):
        [found] = counts(engine, rows, measure, columns=columns, limits=limits)
        assert np.flatnonzero(found).tolist() == [3]
        assert counts(engine, [], measure, columns=columns, limits=limits) == [[0] * 12]


def test_a_table_of_one_axis_is_a_histogram(engine):
    """In one plan, so that both are of one sample, whatever it is."""
    columns = {**KEYS, "age": Bounds(18, 65), COST: Bounds(-3, 50, step=0.5, nan=1, null=-3)}
    pairs = [(table((name, of, 1)), Histogram(column=name, values=of)) for name, of in columns.items()]
    rows = some_rows(60)
    for limits in (Limits(rows=3), None):
        found = counts(engine, rows, *(one for pair in pairs for one in pair), columns=columns, limits=limits)
        assert found[::2] == found[1::2]
        assert any(map(any, found))


@pytest.mark.slow
def test_two_hundred_tables_are_one_statement(engine, monkeypatch):
    names = [f"c{place}" for place in range(21)]
    columns = {
        name: Keys(["a", "b", "c"]) if place % 3 == 0 else Bounds(0, 40) for place, name in enumerate(names)
    }
    random.seed(29)
    held = {
        name: [random.choice(["a", "b", "c", "d", None]) if place % 3 == 0 else random.randrange(-3, 50)
               for _ in range(300)]
        for place, name in enumerate(names)
    }  # fmt: skip
    tables = [
        table(*((name, columns[name], 1 if isinstance(columns[name], Keys) else 7) for name in pair))
        for pair in list(itertools.combinations(names, 2))[:200]
    ]
    calls = []
    fetch = engine_module.fetch
    monkeypatch.setattr(engine_module, "fetch", lambda *args: calls.append(args) or fetch(*args))
    plan = Group(source=SOURCE, measures=tuple(tables))
    held["person"] = [number // 5 for number in range(300)]
    declared = engine.table(pyarrow.table(held), person="person", limits=Limits(rows=3), columns=columns)
    found = compute(plan, {"t": declared}, salt=SALT)
    rows = pyarrow.table(held).to_pylist()
    expected = oracle.compute(plan, rows, "person", Limits(rows=3), SALT)
    assert [array.tolist() for array in found.values] == expected
    assert len(calls) == 1
