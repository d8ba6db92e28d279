"""One behavior on every engine: the same integers from the same rows, whatever the rows hold."""

from __future__ import annotations

import random
import traceback

import ibis
import pyarrow
import pytest
from hypothesis import strategies as st

from data import oracle, strategies
from data.strategies import CITY, COST, PERSON
from data.three_engines import TEXTS, generated
from discreet.data import (
    EACH_ROW,
    Bounds,
    CountNonNull,
    CountRows,
    Filter,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    col,
    compute,
)
from discreet.data.engines.base import fetch
from discreet.errors import EngineFailed

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
NAN, INFINITY = float("nan"), float("inf")


def totals(engine, plan, rows, columns, limits, salt=SALT):  # noqa: PLR0917
    arrow = rows if isinstance(rows, pyarrow.Table) else strategies.arrow(rows)
    person = {"person": EACH_ROW} if limits is None else {"person": PERSON, "limits": limits}
    table = engine.table(arrow, columns=columns, **person)
    return [array.tolist() for array in compute(plan, {"t": table}, salt=salt).values]


def row(person, **values):
    empty = dict.fromkeys(strategies.SCHEMA.names)
    named = {"city": CITY, "cost": COST}
    return empty | {PERSON: person} | {named.get(name, name): value for name, value in values.items()}


@pytest.mark.hypothesis
def test_statistics_are_those_of_the_oracle(engine):
    @generated(
        engine,
        strategies.plans(),
        strategies.rows_of(strategies.persons, min_size=5, max_size=16),
        st.one_of(strategies.limits, strategies.limits, st.none()),
        strategies.salts,
    )
    def check(case, rows, limits, salt):
        plan, columns = case
        person = None if limits is None else PERSON
        expected = oracle.compute(plan, rows, person, limits, salt)
        assert totals(engine, plan, rows, columns, limits, salt) == expected


KEYS = {
    CITY: Keys([*strategies.CITIES, None]),
    "flag": Keys([False, True, None]),
    "level": Keys([3, -3, 0, 1]),
    "day": Keys([*strategies.DAYS, None]),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("limits", [Limits(rows=2), Limits(groups=2, rows_per_group=1)])
def test_every_kind_of_key_and_value_draws_the_same_rows(engine, limits):
    """Each kind of value is spelled into the digests, so all samples would differ if one spelling did."""
    random.seed(7)
    rows = [
        row(
            random.randrange(4),
            city=random.choice([*strategies.CITIES, None]),
            flag=random.choice([True, False, None]),
            level=random.choice([3, -3, 0, 1, 2]),
            day=random.choice([*strategies.DAYS, None]),
            age=random.choice([*strategies.INTEGERS, None]),
            cost=random.choice([*strategies.FLOATS, *strategies.SPECIAL, None]),
            amount=random.choice([*strategies.DECIMALS, None]),
        )
        for _ in range(60)
    ]
    bounds = {
        "age": Bounds(-(2**52), 2**52, null=1),
        COST: Bounds(-3, 50, step=0.1, nan=0.5, infinity="drop"),
        "amount": Bounds(-3, 1000, step=0.001),
    }
    for named in ([CITY, "flag"], ["level", "day"]):
        plan = Group(
            source=SOURCE,
            keys=tuple(GroupKey(column=name, values=KEYS[name]) for name in named),
            measures=(
                CountRows(),
                *(Sum(column=name, bounds=declared) for name, declared in bounds.items()),
                CountNonNull(column="seen"),
            ),
        )
        expected = oracle.compute(plan, rows, PERSON, limits, SALT)
        assert (
            totals(engine, plan, rows, {**bounds, **{name: KEYS[name] for name in named}}, limits) == expected
        )


def test_keys_are_told_apart_to_the_letter(engine):
    keys = Keys([*TEXTS, "it's", 'quo"te', "back\\slash", "%s {} $1 :x", "null", None])
    plan = Group(source=SOURCE, keys=(GroupKey(column=CITY, values=keys),), measures=(CountRows(),))
    rows = [
        row(number, city=text) for number, text in enumerate([*keys.values, "A ", "NULL", "b\u0308", *TEXTS])
    ]
    for limits in (Limits(rows=1), Limits(groups=1, rows_per_group=1), None):
        assert totals(engine, plan, rows, {CITY: keys}, limits) == oracle.compute(
            plan, rows, PERSON, Limits(rows=1), SALT
        )


def test_persons_of_text_are_told_apart_to_the_letter(engine):
    names = [*TEXTS, "it's", None, "x" * 10_000]
    arrow = pyarrow.table({"name": names * 3, "level": pyarrow.array([1] * 3 * len(names), pyarrow.int32())})
    table = engine.table(arrow, person="name", limits=Limits(rows=2), columns={"level": Keys([1])})
    plan = Group(source=SOURCE, keys=(GroupKey(column="level", values=Keys([1])),), measures=(CountRows(),))
    assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [2 * (len(names) - 1)]


@pytest.mark.few(3)
@pytest.mark.parametrize("limits", [Limits(rows=3), Limits(groups=2, rows_per_group=2), None])
def test_tables_of_one_kind_of_row(engine, limits):
    """No rows; nobody's rows; one person's rows only; all rows in one group; keys that were not declared."""
    keys, costs = Keys(["Taipei", None]), Bounds(0, 50, step=0.5)
    plan = Group(
        source=Filter(source=SOURCE, condition=(col("age") > 0).expression),
        keys=(GroupKey(column=CITY, values=keys),),
        measures=(CountRows(), Sum(column=COST, bounds=costs), CountNonNull(column=COST, bounds=costs)),
    )
    empty, crowd = [], [row(person, city="Taipei", cost=NAN, age=1) for person in range(50)]
    alone = [row(1, city="Taipei", cost=100.0, age=number) for number in range(200)]
    nobody = [row(None, city="Taipei", cost=1.0, age=1)] * 5
    elsewhere = [row(number, city="elsewhere", age=1) for number in range(9)]
    person = None if limits is None else PERSON
    for rows in (empty, alone, [*crowd, *nobody, *elsewhere]):
        expected = oracle.compute(plan, rows, person, limits, SALT)
        assert totals(engine, plan, rows, {CITY: keys, COST: costs}, limits) == expected


def test_totals_beyond_64_bits_are_clamped_and_nothing_fails(engine):
    huge = Bounds(-(2**52), 2**52)
    plan = Group(
        source=SOURCE, measures=(Sum(column="age", bounds=huge), Sum(column="age", bounds=huge, center=2**52))
    )
    rows = [row(person, age=2**63 - 1) for person in range(3000)] + [row(9999, age=-(2**63))] * 5
    for limits in (Limits(rows=1), Limits(groups=1, rows_per_group=2)):
        assert totals(engine, plan, rows, {"age": huge}, limits)[0] == [2**62]


def test_a_hundred_thousand_groups(engine):
    size = 100_000
    keys = Keys([*range(2**62, 2**62 + size - 1), None])
    age = [2**62 + number % (size - 2) for number in range(3 * size)]
    arrow = pyarrow.table(
        {
            PERSON: pyarrow.array([number // 3 for number in range(3 * size)], pyarrow.int64()),
            "age": pyarrow.array([*age[:-1], None], pyarrow.int64()),
        }
    )
    plan = Group(source=SOURCE, keys=(GroupKey(column="age", values=keys),), measures=(CountRows(),))
    [found] = totals(engine, plan, arrow, {"age": keys}, Limits(rows=3))
    assert sum(found) == 3 * size
    assert found[-2:] == [0, 1]
    assert set(found[:-2]) <= {2, 3, 4}


def test_many_keys_of_text_are_listed_apart(engine):
    keys = Keys([*(f"key '{number}'" for number in range(400)), *TEXTS, None])
    rows = [
        row(person, city=text)
        for person, text in enumerate(["key '399'", "KEY '1'", "key '1' ", *TEXTS, None])
    ]
    plan = Group(source=SOURCE, keys=(GroupKey(column=CITY, values=keys),), measures=(CountRows(),))
    expected = oracle.compute(plan, rows, PERSON, Limits(rows=1), SALT)
    assert totals(engine, plan, rows, {CITY: keys}, Limits(rows=1)) == expected


@pytest.mark.few(2)
@pytest.mark.parametrize("limits", [Limits(rows=2), Limits(groups=2, rows_per_group=1)])
def test_nobody_decides_about_the_rows_of_another(engine, limits):
    """Removing a person, and shuffling the rest, changes the totals by that person's rows alone."""
    random.seed(11)
    keys, ages = Keys(range(-5, 6)), Bounds(0, 110)
    plan = Group(
        source=SOURCE,
        keys=(GroupKey(column="level", values=keys),),
        measures=(CountRows(), Sum(column="age", bounds=ages)),
    )
    rows = [
        row(random.randrange(6), level=random.randrange(-5, 6), age=random.randrange(110)) for _ in range(60)
    ]
    alone, others = ([one for one in rows if (one[PERSON] == 0) is wanted] for wanted in (True, False))
    random.shuffle(rows)
    together, theirs, rest = (
        totals(engine, plan, some, {"level": keys, "age": ages}, limits) for some in (rows, alone, others)
    )
    assert together == [
        [one + other for one, other in zip(*both, strict=True)] for both in zip(theirs, rest, strict=True)
    ]


def test_what_an_engine_says_goes_no_further(engine):
    canary = "canary-8675309"
    table = engine.table(pyarrow.table({"name": [canary]}))
    rows = table._relation

    @ibis.udf.scalar.builtin(name="no_such_function")
    def broken(text: str) -> str: ...

    with pytest.raises(EngineFailed) as failure:
        fetch(rows.filter(rows["name"] == canary).select(x=broken(rows["name"])), table._backend)
    assert failure.value.__context__ is None
    assert failure.value.__cause__ is None
    assert canary not in "".join(traceback.format_exception(failure.value))
    assert fetch(rows.select(x=rows["name"].length()), table._backend).to_pylist() == [{"x": len(canary)}]
