"""One statement for plans that differ in whole numbers: what it says with their digits is what they say."""

from __future__ import annotations

import datetime
import operator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import oracle
from discreet.data import (
    Bounds,
    CountRows,
    Filter,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    Table,
    col,
    compute,
)
from discreet.data.contributions import bounded_totals
from discreet.data.engines import base, statements
from discreet.data.engines.stand_ins import (
    SMALLEST_STAND_IN,
    has_every_stand_in,
    with_numbers,
    with_stand_ins,
)
from discreet.data.language.relations import Derive, JoinPersons, Named

SALT = Salt(value="0123456789abcdef" * 2)
LIMITS = Limits(rows=3)
COLUMNS = {"city": Keys(["a", "b"]), "cost": Bounds(0, 50)}
ROWS = [
    {
        "who": number % 9,
        "city": "abc"[number % 3],
        "cost": 7 * number % 53,
        "share": number / 4,
        "price": Decimal(number) / 8,
        "small": Decimal(number) / 4,
    }
    for number in range(80)
]
FIELDS = pyarrow.schema(
    [
        ("who", pyarrow.int64()),
        ("city", pyarrow.string()),
        ("cost", pyarrow.int64()),
        ("share", pyarrow.float64()),
        ("price", pyarrow.decimal128(20, 3)),
        ("small", pyarrow.decimal128(5, 2)),
    ]
)
WIDE = ["cost", "share", "price"]
"""Columns whose types hold fifteen digits."""
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
NUMBERS = st.sampled_from([0, 1, 9, 10, 2**31, 2**40, SMALLEST_STAND_IN - 1]) | st.integers(0, 99)


def table(**others):
    rows = pyarrow.Table.from_pylist(ROWS, FIELDS)
    return Table(rows, person="who", limits=LIMITS, columns=COLUMNS, **others)


TABLES = {"t": table()}


def asked(condition, *derived):
    source = Filter(source=Source(table="t"), condition=condition.expression)
    if derived:
        source = Derive(source=source, columns=derived)
    return Group(
        source=source,
        keys=(GroupKey(column="city", values=COLUMNS["city"]),),
        measures=(CountRows(), Sum(column="cost", bounds=COLUMNS["cost"])),
    )


@st.composite
def conditions(draw, names, numbers, depth=2):
    if depth and draw(st.booleans()):
        one, other = (draw(conditions(names, numbers, depth - 1)) for _ in range(2))
        return draw(st.sampled_from([one & other, one | other, ~one]))
    column, compared = col(draw(st.sampled_from(names))), draw(st.sampled_from(COMPARISONS))
    return compared(column, draw(numbers))


def statement(plan):
    return base.sql_of(bounded_totals(plan, TABLES, SALT), TABLES["t"]._backend)


@pytest.mark.slow
@settings(max_examples=25)
@given(conditions(WIDE, NUMBERS))
def test_digits_in_the_shared_statement_make_the_own_one(condition):
    """With both written, to the letter: digits are all in which they differ."""
    plan = asked(condition)
    standing, numbers = with_stand_ins(plan)
    shared = statement(standing)
    assert has_every_stand_in(shared, numbers)
    assert with_numbers(shared, numbers) == statement(plan)


@pytest.mark.parametrize(
    "number", [-1, SMALLEST_STAND_IN, 2**63, Fraction(1, 2), True, "1", datetime.date(2026, 1, 1)]
)
def test_other_constants_stay(number):
    name = {bool: "flag", str: "city", datetime.date: "day"}.get(type(number), "cost")
    assert with_stand_ins(asked(col(name) != number)) is None


def test_constants_within_expressions_and_lists_stay():
    for condition in (col("cost") + 1 > col("share"), col("cost").isin([1, 2])):
        assert with_stand_ins(asked(condition)) is None
    more = Named(name="more", expression=(col("cost") + 4).expression)
    standing, numbers = with_stand_ins(asked((col("cost") * 3 > 5) & col("cost").isin([1, 2]), more))
    assert numbers == (5,)
    assert standing.source.columns == (more,)


def test_what_is_alike_stays_alike():
    plans = [
        asked((col("cost") > one) & (col("share") < other)) for one, other in ((1, 2), (3, 4), (5, 5), (6, 6))
    ]
    standing = [with_stand_ins(plan)[0] for plan in plans]
    assert standing[0] == standing[1] != standing[2] == standing[3]


def test_joins_and_many_constants_keep_their_own_statements():
    left = Filter(source=Source(table="t"), condition=(col("cost") > 1).expression)
    joined = JoinPersons(left=left, right=Source(table="t"))
    assert with_stand_ins(replace(asked(col("cost") > 1), source=joined)) is None
    many = col("cost") > 0
    for number in range(1, 33):
        many &= col("cost") != number
    assert with_stand_ins(asked(many)) is None


@pytest.fixture
def written(monkeypatch):
    """The statements that were written."""
    found = []
    write = base.written

    def noted(*given):
        found.append(write(*given))
        return found[-1]

    monkeypatch.setattr(base, "written", noted)
    return found


@pytest.mark.parametrize("prepare", [False, True])
def test_the_third_plan_is_not_compiled_and_means_what_it_says(written, prepare):
    tables = {"t": table(prepare=prepare)}
    salts = [Salt(value=f"{number:032x}") for number in range(2**100, 2**100 + 8)]
    counts, before = [], []
    for number, salt in enumerate(salts):
        plan = asked((col("cost") >= 6 * number) & (col("share") < 20 - number))
        found = [array.tolist() for array in compute(plan, tables, salt=salt).values]
        if not prepare:  # a prepared table has lots of its own
            assert found == oracle.compute(plan, ROWS, "who", LIMITS, salt)
        counts.append(sum(found[0]))
        before.append(len(written))
    assert counts[0] > counts[-1]
    assert before == [1 + prepare] + [3 + prepare] * 7  # a prepared table is one more


def test_no_statement_is_shared_where_a_number_may_not_fit(written):
    """Five digits decide by themselves for larger numbers: a stand-in would not be in the statement."""
    tables = {"t": table()}
    for number in (5, 50, 500, 5000):
        plan = asked(col("small") < number)
        assert [array.tolist() for array in compute(plan, tables, salt=SALT).values] == oracle.compute(
            plan, ROWS, "who", LIMITS, SALT
        )
    assert len(tables["t"]._statements) == 4


def test_texts_with_the_digits_of_a_stand_in_are_not_filled():
    """Whoever knows the stand-ins writes them into a text: it stays as it is."""
    tables = {"t": table()}
    for number in range(4):
        plan = asked((col("city") != "612073945180300") & (col("cost") > number))
        compute(plan, tables, salt=SALT)
        kept = ["".join(one.parts) for one in tables["t"]._statements._kept.values()]
        assert all("'612073945180300'" in text for text in kept)
        assert len(kept) == number + 1


def test_plans_of_stand_ins_that_are_remembered_are_few(monkeypatch):
    monkeypatch.setattr(statements, "MOST_STATEMENTS", 3)
    kept = statements.Statements()
    keys = [(None, bytes([number]), ()) for number in range(5)]
    assert [kept.was_seen(key) for key in keys] == [False] * 5
    assert [kept.was_seen(keys[place]) for place in (4, 4, 0)] == [True, False, False]
    assert len(kept._seen) == 3
