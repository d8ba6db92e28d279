"""Tables of answers stay true: whatever the exact numbers within their ends are, SQL over them is covered."""

# ruff: noqa: E501, S608

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest

from discreet.data import Aggregate, AggregateFunction, literal
from discreet.data.language.expressions import Column, Compare, Comparison, IsNull
from discreet.data.language.relations import Order
from discreet.errors import UnsupportedQuery
from discreet.queries.answers import table as table_module
from discreet.queries.answers.combining import combined
from discreet.queries.answers.evaluate import Evaluator
from discreet.queries.answers.grouping import distinct_rows, grouped
from discreet.queries.answers.joining import joined
from discreet.queries.answers.leaves import open_table, released_table, supposed_table
from discreet.queries.answers.table import AnswerCells, AnswerTable, check_row_count
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.question.answer_relations import (
    Combination,
    Combined,
    Cut,
    Joined,
    Kept,
    Measured,
    OneRow,
    Paired,
    Regrouped,
)
from queries.answers.statements import COUNTS, asked, exact

MEASURED = [Measured(part=part, columns=tuple((f"{name}{part}", name) for name in "ikx")) for part in (0, 1)]
LESS = Compare(operator=Comparison.LESS, left=Column(name="x0"), right=literal(4))
SOME = Kept(source=MEASURED[0], condition=LESS)
OTHERS = Kept(source=MEASURED[1], condition=IsNull(operand=Column(name="x1")))
PAIRS = (Paired(left="k0", right="k1"),)


def aggregate(function, parameter=None):
    return Aggregate(function=function, operands=(Column(name="x0"),), parameter=parameter)


AGGREGATES = (
    ("rows", Aggregate(function=AggregateFunction.COUNT)),
    ("n", aggregate(AggregateFunction.COUNT)),
    ("s", aggregate(AggregateFunction.SUM)),
    ("a", aggregate(AggregateFunction.MEAN)),
    ("lo", aggregate(AggregateFunction.MINIMUM)),
    ("hi", aggregate(AggregateFunction.MAXIMUM)),
    ("q", aggregate(AggregateFunction.QUANTILE, Fraction(1, 3))),
    ("v", aggregate(AggregateFunction.VARIANCE)),
    ("w", aggregate(AggregateFunction.SAMPLE_STANDARD_DEVIATION)),
    ("d", aggregate(AggregateFunction.COUNT_DISTINCT)),
)
WRITTEN = (
    "COUNT(*) AS rows, COUNT(x0) AS n, SUM(x0) AS s, AVG(x0) AS a, MIN(x0) AS lo, MAX(x0) AS hi, "
    "QUANTILE_DISC(x0, 1 / 3) AS q, VAR_POP(x0) AS v, STDDEV_SAMP(x0) AS w, COUNT(DISTINCT x0) AS d"
)
NAMES = ["rows", "n", "s", "a", "lo", "hi", "q", "v", "w", "d"]
CASES = {
    "kept": (SOME, "SELECT * FROM t0 WHERE x0 < 4", ["i0"], ["x0"]),
    "inner": (
        Joined(one=SOME, other=OTHERS, on=PAIRS),
        "SELECT * FROM t0 JOIN t1 ON k0 = k1 WHERE x0 < 4 AND x1 IS NULL",
        ["i0", "i1"],
        ["x0", "x1"],
    ),
    "outer": (
        Joined(one=SOME, other=OTHERS, on=PAIRS, left=True, right=True),
        "SELECT * FROM (SELECT * FROM t0 WHERE x0 < 4) FULL JOIN (SELECT * FROM t1 WHERE x1 IS NULL) ON k0 = k1",
        ["i0", "i1"],
        ["x0", "x1"],
    ),
    "groups": (
        Regrouped(source=SOME, keys=("k0",), columns=AGGREGATES),
        f"SELECT k0, {WRITTEN} FROM t0 WHERE x0 < 4 GROUP BY k0",
        ["k0"],
        NAMES,
    ),
    "all": (Regrouped(source=SOME, columns=AGGREGATES), f"SELECT {WRITTEN} FROM t0 WHERE x0 < 4", [], NAMES),
    "except": (
        Combined(
            kind=Combination.EXCEPT,
            one=Regrouped(source=SOME, keys=("k0",)),
            other=Regrouped(source=OTHERS, keys=("k1",)),
        ),
        "SELECT k0 FROM t0 WHERE x0 < 4 EXCEPT SELECT k1 FROM t1 WHERE x1 IS NULL",
        ["k0"],
        [],
    ),
    "intersect": (
        Combined(
            kind=Combination.INTERSECT,
            one=Regrouped(source=SOME, keys=("k0",)),
            other=Regrouped(source=OTHERS, keys=("k1",)),
        ),
        "SELECT k0 FROM t0 WHERE x0 < 4 INTERSECT SELECT k1 FROM t1 WHERE x1 IS NULL",
        ["k0"],
        [],
    ),
    "union": (
        Combined(
            kind=Combination.UNION,
            one=Regrouped(source=SOME, keys=("k0",)),
            other=Regrouped(source=OTHERS, keys=("k1",)),
        ),
        "SELECT k0 FROM t0 WHERE x0 < 4 UNION SELECT k1 FROM t1 WHERE x1 IS NULL",
        ["k0"],
        [],
    ),
}


def world(draw, rows=7):
    """A table, and the exact rows of one of the worlds that it allows."""
    low = draw.integers(-3, 8, rows).astype(float)
    high = low + draw.integers(0, 4, rows)
    null = draw.random(rows) < 0.2
    value = np.where(draw.random(rows) < 0.15, np.nan, low + draw.integers(-1, 5, rows))
    keys = draw.integers(0, 3, rows).tolist()
    numbers = PossibleNumbers(low=low, value=value, high=high, null=null, whole=True)
    columns = {
        "i": AnswerCells.public(list(range(rows))),
        "k": AnswerCells.public(keys),
        "x": AnswerCells(values=numbers, noises=1),
    }
    everything = np.ones(rows, np.bool_)
    table = AnswerTable(columns=columns, released=everything, certain=everything)
    true = [float(draw.integers(int(a), int(b) + 1)) for a, b in zip(low, high, strict=True)]
    exact = [None if null[i] and draw.random() < 0.5 else true[i] for i in range(rows)]
    released = [None if np.isnan(one) else one for one in value]
    return table, keys, exact, released


def rows_in(connection, text, names):
    found = connection.execute(text)
    shown = [column[0] for column in found.description]
    return [tuple(dict(zip(shown, row, strict=True))[name] for name in names) for row in found.fetchall()]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(12))
def test_tables_stay_true(name, seed):
    draw = np.random.default_rng([seed, len(name)])
    relation, text, keys, numbers = CASES[name]
    worlds = [world(draw) for _ in range(2)]
    result = Evaluator(parts=[one[0] for one in worlds], share=Fraction(1, 2)).of(relation)
    with duckdb.connect() as connection:
        for place, wanted in ((2, "exact"), (3, "released")):
            for part, one in enumerate(worlds):
                table = pyarrow.table(
                    {
                        f"i{part}": pyarrow.array(range(7), pyarrow.int64()),
                        f"k{part}": pyarrow.array(one[1], pyarrow.int64()),
                        f"x{part}": pyarrow.array(one[place], pyarrow.float64()),
                    }
                )
                connection.register(f"t{part}", table)
            found = {
                row[: len(keys)]: row[len(keys) :] for row in rows_in(connection, text, [*keys, *numbers])
            }
            (check_released if wanted == "released" else check_exact)(result, found, keys, numbers)


def places_of(result, keys):
    rows = zip(*(result.columns[key].plain() for key in keys), strict=True) if keys else [()]
    return {row: place for place, row in enumerate(rows)}


def check_released(result, found, keys, numbers):
    places = places_of(result, keys)
    assert {row for row, place in places.items() if result.released[place]} == set(found)
    for row, values in found.items():
        for name, value in zip(numbers, values, strict=True):
            shown = result.columns[name].plain()[places[row]]
            assert shown == value if None in (shown, value) else shown == pytest.approx(value)


def check_exact(result, found, keys, numbers):
    places = places_of(result, keys)
    assert {row for row, place in places.items() if result.certain[place]} <= set(found)
    for row, values in found.items():
        for name, value in zip(numbers, values, strict=True):
            cells, place = result.columns[name].values, places[row]
            if value is None:
                assert cells.null[place], name
            else:
                assert cells.low[place] - 1e-9 <= value <= cells.high[place] + 1e-9, name


def small(values, noises=1):
    array = np.array(values, float)
    numbers = PossibleNumbers(low=array - 1, value=array, high=array + 1, null=np.zeros(len(array), bool))
    flags = np.ones(len(array), np.bool_)
    columns = {"x0": AnswerCells(values=numbers, noises=noises)}
    return AnswerTable(columns=columns, released=flags, certain=flags)


def test_what_is_cut_by_released_values_is_what_is_meant_from_there_on():
    evaluator = Evaluator(parts=[small([3, 9, 5, 7])], share=Fraction(1, 2))
    source = Measured(part=0, columns=(("x0", "x0"),))
    cut = Cut(source=source, order=(Order(column="x0", descending=True),), limit=2)
    found = evaluator.of(cut)
    assert found.columns["x0"].plain() == [9.0, 7.0]
    assert found.chosen_from == 4
    assert len(Evaluator(parts=evaluator.parts, share=Fraction(1, 2), whole=True).of(cut)) == 4


def test_groups_by_released_numbers_may_hold_any_row():
    found = grouped(
        small([1, 2, 1]), ["x0"], [("rows", Aggregate(function=AggregateFunction.COUNT))], Fraction(1, 2)
    )
    counts = found.columns["rows"].values
    assert counts.value.tolist() == [2, 1]
    assert counts.low.tolist() == [0, 0]
    assert counts.high.tolist() == [3, 3]
    assert not found.certain.any()
    left = distinct_rows(small([1, 2, 1]))
    assert (len(left), left.certain.any()) == (2, False)


def test_released_numbers_join_nothing():
    with pytest.raises(UnsupportedQuery, match="by their keys"):
        joined(
            Joined(one=OneRow(), other=OneRow(), on=(Paired(left="x0", right="x0"),)), small([1]), small([1])
        )


def test_tables_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(table_module, "LARGEST_TABLE", 10)
    with pytest.raises(UnsupportedQuery, match="join answers by their keys"):
        check_row_count(11)
    with pytest.raises(UnsupportedQuery):
        combined(Combination.ALL, small(range(6)), small(range(6)))
    with pytest.raises(UnsupportedQuery, match="rows"):
        asked(
            f"SELECT a.n FROM {COUNTS.removesuffix('t')} a CROSS JOIN {COUNTS.removesuffix('t')} b", epsilon=1
        ).request()


def test_tables_of_questions_are_released_supposed_or_open():
    (request,) = asked(f"SELECT SUM(n) AS s FROM {COUNTS}", epsilon=1).request().requests
    (integers,) = exact(asked(f"SELECT SUM(n) AS s FROM {COUNTS}", epsilon=1).request())
    from discreet.curator.request.request import Draw

    draws = [Draw(part=part, steps=integers[part.measure]) for part in request.parts]
    shown = released_table(request, draws, Fraction(95, 100))
    assert shown.columns["n"].values.value.sum() == integers[request.parts[0].measure].sum()
    assert supposed_table(request, Fraction(1, 2), 20).columns["n"].values.value.tolist() == [20] * 6
    assert np.isinf(open_table(request).columns["n"].values.high).all()
    assert {len(one) for one in (shown, open_table(request))} == {6}
