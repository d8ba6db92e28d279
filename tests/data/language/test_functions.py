"""Functions mean on the engine what they mean on paper, for every row."""

from __future__ import annotations

import math
from datetime import date as D  # noqa: N812
from decimal import Decimal
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import pyarrow
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from data import function_strategies as made
from data import oracle
from discreet.data import EACH_ROW, Table, Type, col, least, type_of
from discreet.data.compile.expressions import compile_expression
from discreet.data.engines.base import fetch
from discreet.data.language.expressions import columns_of
from discreet.data.language.functions import FUNCTIONS
from discreet.errors import UnsupportedQuery
from effort import examples


def admitted(formula):
    try:
        type_of(formula.expression, made.TYPES)
    except UnsupportedQuery as refusal:
        assert "could overflow" in str(refusal) or "too long" in str(refusal), formula  # noqa: PT017
        return False
    return True


def same(found, expected):
    if isinstance(found, float) and isinstance(expected, float):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    return found == expected and type(found) is type(expected)


def check(found, formula, rows):
    for value, row in zip(found, rows, strict=True):
        expected = oracle.evaluate(formula.expression, row)
        read = {name: row[name] for name in columns_of(formula.expression)}
        assert same(value, expected), (formula, value, expected, read)


@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(made.calculated.filter(admitted), min_size=10, max_size=10),
    st.lists(made.row, min_size=10, max_size=10),
)
def test_calculations_are_those_of_the_oracle(formulas, rows):
    table = Table(made.numbered(rows), person=EACH_ROW)
    relation = table._relation
    named = {f"c{place}": compile_expression(one.expression, relation) for place, one in enumerate(formulas)}
    found = fetch(relation.select(row=relation["row"], **named).order_by("row"), table._backend)
    for place, formula in enumerate(formulas):
        check(found[f"c{place}"].to_pylist(), formula, rows)


X, Y, N, EXACT, S, OTHER, WRITTEN, DAY, END, SEEN, AT, FLAG = (
    col(name)
    for name in ("x", "y", "n", "exact", "name", "other", "written", "day", "end", "seen", "at", "flag")
)
EVERY = [
    *(
        getattr(one, word)()
        for one in (X, Y, N, EXACT)
        for word in ("abs", "floor", "ceil", "round", "sign", "sqrt")
    ),
    *(one.round(digits) for one in (X, N, EXACT) for digits in (-15, -1, 1, 2, 15)),
    *(one.bins(*parts) for one in (X, N, EXACT) for parts in ((0, 1, 10), (-5, 100, 7))),
    *(one.cast(kind) for one in (X, N, EXACT, FLAG, WRITTEN) for kind in ("integer", "float")),
    *(N % divisor for divisor in (7, -7, 1, -1, 0)),
    *(one.clip(-1, 50.5) for one in (X, Y, N)),
    *(made.least(X, other) for other in (Y, 0, N)),
    *(made.greatest(X, other) for other in (Y, 0, N)),
    *(one.null_if(10) for one in (X, N, EXACT)),
    *(getattr(one, word)() for one in (S, OTHER) for word in ("lower", "upper", "strip", "length")),
    *(one.slice(*place) for one in (S, OTHER) for place in ((0,), (1,), (0, 1), (1, 2), (3, 0), (40, 5))),
    *(
        getattr(S, word)(part)
        for word in ("starts_with", "ends_with", "contains")
        for part in ("", "a", "💶", OTHER)
    ),
    *(one.ln() for one in (N, X, Y, EXACT)),
    *(X.log(base) for base in (2, 10, 0.5, 1e20)),
    *(one.exp() for one in (N, X, Y, EXACT)),
    *((X + shift).exp() for shift in (-46, 46, 36, 1)),
    *(S.tail(length) for length in (0, 1, 3, 40)),
    *(getattr(S, word)(*pad) for word in ("pad_start", "pad_end") for pad in ((0, "x"), (4,), (9, "é💶"))),
    *(S.position(part) for part in ("", "a", "b", "💶", "\n", OTHER)),
    *(S.like(pattern) for pattern in ("", "%", "_", "__", "a%", "%a%", "%b_c", "a.b", "%\n%", "_x_")),
    *(S.replace(old, new) for old, new in (("a", ""), ("aa", "a"), (" ", "  "), ("💶", "e"), ("%", "_"))),
    S.concat("|", OTHER),
    S.coalesce(OTHER, "?"),
    made.least(S, OTHER),
    S < "a",
    made.when(FLAG).then("a").otherwise("B") < "b",
    WRITTEN.cast("date"),
    *(one.cast("text") for one in (N, FLAG, DAY)),
    *(
        getattr(one, part)()
        for one in (DAY, SEEN, AT)
        for part in ("year", "quarter", "month", "day", "day_of_week", "day_of_year", "week", "epoch")
    ),
    *(getattr(one, part)() for one in (SEEN, AT) for part in ("hour", "minute", "second")),
    *(
        one.offset(amount, unit)
        for one in (DAY, SEEN, AT)
        for amount, unit in ((1, "day"), (-400, "day"), (9998, "year"), (-9998, "year"), (0, "day"))
    ),
    *(one.offset(n, "month") for one in (DAY, SEEN, AT) for n in (1, -1, 13, 119_987, -119_987)),
    *(one.offset(n, "day") for one in (DAY, SEEN) for n in (3_652_058, -3_652_058)),
    *(one.offset(n, "second") for one in (SEEN, AT) for n in (1, -1, 86_400, 10**9, -(10**9))),
    *(one.truncate(unit) for one in (DAY, SEEN, AT) for unit in ("year", "quarter", "month", "week", "day")),
    *(one.truncate("hour") for one in (SEEN, AT)),
    *(one.cast("date") for one in (DAY, SEEN, AT)),
    *(one.cast("timestamp") for one in (DAY, SEEN, AT)),
    DAY - END,
    DAY.days_since(AT),
    N + N,
    N * 3 - N,
    X * Y,
    X / N,
]
"""Every function, on every type that it takes."""
EVERY += [
    part
    for one in EVERY
    if type_of(one.expression, made.TYPES) is Type.BOOLEAN
    for part in (~one, one == FLAG, ~one == ~FLAG, (~one).is_null())
]

HARD = [
    dict(zip(made.TYPES, values, strict=True))
    for values in zip(
        *(
            islice(cycle(listed), 97)
            for listed in (
                [*made.INTEGERS, None],
                [1, -1, 32767],
                [*made.FLOATS, None],
                [*made.FLOATS[::-1], 1.0, None],
                [Decimal(text) for text in ("0.500", "-0.500", "2.500", "-10.000", "99.999")] + [None],
                [True, False, None],
                [*made.NAMES, None],
                [*made.NAMES[::-1], "a", "b", None],
                [*made.WRITTEN, None],
                [*made.DAYS, None],
                [*made.DAYS[::-1], made.DAYS[3]],
                [*made.TIMES, None],
                [*made.INSTANTS[::-1], None],
            )
        ),
        strict=True,
    )
]


@pytest.mark.slow
def test_every_function_means_the_same_on_every_engine(engine):
    table = engine.table(made.numbered(HARD))
    for place in range(0, len(EVERY), 60):
        some = EVERY[place : place + 60]
        makers = {f"c{index}": partial(compile_expression, one.expression) for index, one in enumerate(some)}
        for formula, values in zip(some, engine.values(table, **makers).values(), strict=True):
            check(values, formula, HARD)


@pytest.mark.hypothesis
def test_every_engine_calculates_the_same(engine):
    full = {"duckdb": 1, "postgres": 8, "spark": 1}[engine.name]

    @settings(
        max_examples=examples(full),
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.lists(made.calculated.filter(admitted), min_size=60, max_size=60),
        st.lists(made.row, min_size=15, max_size=15),
    )
    def run(formulas, rows):
        table = engine.table(made.numbered(rows))
        makers = {
            f"c{place}": partial(compile_expression, one.expression) for place, one in enumerate(formulas)
        }
        for formula, values in zip(formulas, engine.values(table, **makers).values(), strict=True):
            check(values, formula, rows)

    run()


def test_the_page_of_functions_lists_every_function():
    text = Path(__file__).parents[3].joinpath("docs", "functions.md").read_text(encoding="utf-8")
    table = text.split("## Functions")[1].split("## ")[0]
    listed = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert listed == list(FUNCTIONS)


def test_functions_do_not_fail_where_engines_would():
    rows = [
        {"n": -(2**63), "x": -1.0, "y": float("inf"), "written": "x", "day": D(1, 1, 1)},
        {"n": 0, "x": float("nan"), "y": -float("inf"), "written": "9" * 19, "day": D(9999, 12, 31)},
        {"n": 2**63 - 1, "x": 1e300, "y": 5e-324, "written": "2026-02-30", "day": None},
    ]
    full = [{name: row.get(name) for name in made.TYPES} for row in rows]
    table = Table(made.numbered(full), person=EACH_ROW)
    n, x, y, written, day = (col(name) for name in ("n", "x", "y", "written", "day"))
    formulas = [
        n.abs(),
        n % -1,
        n % 0,
        n % n,
        x.sqrt(),
        y.floor(),
        y.ceil(),
        y.round(),
        y.round(3),
        x.round(-3),
    ]
    formulas += [written.cast(kind) for kind in ("integer", "float", "date")]
    formulas += [x.cast("integer"), n * n, n + n, x * y, x / n, day - D(9999, 12, 31), day.cast("timestamp")]
    formulas += [col("seen").coalesce(D(1, 1, 1)), day.truncate("week"), x.bins(0, 1, 1000)]
    relation = table._relation
    named = {f"c{place}": compile_expression(one.expression, relation) for place, one in enumerate(formulas)}
    found = fetch(relation.select(row=relation["row"], **named).order_by("row"), table._backend)
    for place, formula in enumerate(formulas):
        check(found[f"c{place}"].to_pylist(), formula, full)


def test_far_dates_and_infinite_ones_are_null():
    array = pyarrow.array([0, 2**31 - 1, -(2**31), -(2**31) + 1, None], pyarrow.int32()).cast(
        pyarrow.date32()
    )
    moments = pyarrow.array([0, 2**62, -(2**62), 2**63 - 1, None], pyarrow.int64()).cast(
        pyarrow.timestamp("us")
    )
    zoned = moments.cast(pyarrow.timestamp("us", "UTC"))
    table = Table(pyarrow.table({"d": array, "t": moments, "z": zoned}), person=EACH_ROW)
    relation = table._relation
    for formula in (
        *(getattr(col(name), part)() for name in "dtz" for part in ("year", "day_of_week", "day_of_year")),
        *(col(name).truncate(unit) for name in "dtz" for unit in ("week", "year", "day")),
        *(col(name).cast("date") for name in "dtz"),
        *(col(name).truncate("hour") for name in "tz"),
        col("d") - D(2000, 1, 1),
        col("d").days_since(col("t")),
        col("d").cast("timestamp"),
        col("d").cast("text"),
    ):
        found = fetch(relation.select(found=compile_expression(formula.expression, relation)), table._backend)
        assert [value is None for value in found["found"].to_pylist()] == [False, True, True, True, True], (
            formula
        )


def test_a_bucket_tree_is_exact_at_its_edges():
    edges = [0.1, 0.2, 0.30000000000000004, 0.3, 0.7, 0.7999999999999999]
    full = [
        {name: {"x": edge, "exact": Decimal(f"{edge:.3f}")}.get(name) for name in made.TYPES}
        for edge in edges
    ]
    table = Table(made.numbered(full), person=EACH_ROW)
    relation = table._relation
    for formula in (col("x").bins(0, 1, 10), col("exact").bins(0, 1, 10), col("x").bins(0.1, 0.7, 6)):
        found = fetch(
            relation.select(row=relation["row"], c=compile_expression(formula.expression, relation)).order_by(
                "row"
            ),
            table._backend,
        )
        check(found["c"].to_pylist(), formula, full)
    assert oracle.evaluate(col("x").bins(0, 1, 10).expression, {"x": 0.3}) == 4


def test_unsigned_integers_beyond_64_bits_are_null():
    table = Table(
        pyarrow.table({"u": pyarrow.array([2**64 - 1, 5, None], pyarrow.uint64())}),
        person=EACH_ROW,
        columns={"u": Type.INTEGER},
    )
    relation = table._relation
    for formula in (col("u").abs(), col("u").coalesce(col("u")), least(col("u"), 2**62), col("u").floor()):
        found = fetch(relation.select(c=compile_expression(formula.expression, relation)), table._backend)[
            "c"
        ].to_pylist()
        assert found[1:] in ([5, None], [5, 2**62])
        assert found[0] in (None, 2**62)
