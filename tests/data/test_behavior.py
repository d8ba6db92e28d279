"""One behavior on every engine: the same integers from the same rows, whatever the rows hold."""

from __future__ import annotations

import datetime
import hashlib
import random
import traceback
from decimal import Decimal
from functools import partial
from unittest import mock

import ibis
import pyarrow
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from data import engines, oracle, strategies
from data.strategies import CITY, COST, PERSON
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
    Type,
    check_condition,
    col,
    compute,
)
from discreet.data.compile import compiled
from discreet.data.engine import double, fetch, lot
from discreet.data.grid import steps
from discreet.errors import EngineFailed

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
NAN, INFINITY = float("nan"), float("inf")


def numbered(arrow):
    """The rows, with a number for each, so that their values can be told apart."""
    return arrow.append_column("row", pyarrow.array(range(arrow.num_rows), pyarrow.int64()))


def columns_of(**values):
    """A table of columns given as (type, values), filled up with NULL to one length."""
    longest = max(len(listed) for _, listed in values.values())
    arrays = {
        name: pyarrow.array([*listed, *[None] * (longest - len(listed))], kind)
        for name, (kind, listed) in values.items()
    }
    return numbered(pyarrow.table(arrays))


def truths(engine, table, formulas):
    """The values of some conditions in each row."""
    for formula in formulas:
        check_condition(formula.expression, table.schema)
    makers = {f"c{place}": partial(compiled, formula.expression) for place, formula in enumerate(formulas)}
    return list(engine.values(table, **makers).values())


def assert_truths(engine, arrow, formulas):
    """Conditions over a table are those of the oracle."""
    table = engine.table(arrow)
    found = truths(engine, table, formulas)
    rows = arrow.to_pylist()
    with mock.patch.dict(oracle.TYPES, table.schema):
        for formula, values in zip(formulas, found, strict=True):
            assert values == [oracle.evaluate(formula.expression, row) for row in rows], formula.expression


def totals(engine, plan, rows, columns, limits, salt=SALT):
    arrow = rows if isinstance(rows, pyarrow.Table) else strategies.arrow(rows)
    person = {"person": EACH_ROW} if limits is None else {"person": PERSON, "limits": limits}
    table = engine.table(arrow, columns=columns, **person)
    return [array.tolist() for array in compute(plan, {"t": table}, salt=salt).values]


def generated(engine, *arguments):
    """Run a check on generated examples, as many as the engine can afford; those of servers are not shrunk."""
    phases = list(Phase) if engine.name == engines.DUCKDB else [Phase.generate]
    chosen = settings(
        max_examples=engine.examples, phases=phases, suppress_health_check=list(HealthCheck), database=None
    )
    return lambda check: chosen(given(*arguments)(check))()


def row(person, **values):
    empty = dict.fromkeys(strategies.SCHEMA.names)
    named = {"city": CITY, "cost": COST}
    return empty | {PERSON: person} | {named.get(name, name): value for name, value in values.items()}


def test_conditions_are_those_of_the_oracle(engine):
    @generated(
        engine,
        st.lists(strategies.formulas, min_size=25, max_size=25),
        strategies.rows_of(st.just(1), min_size=12, max_size=20),
    )
    def check(formulas, rows):
        assert_truths(engine, numbered(strategies.arrow(rows)), formulas)


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
        assert totals(engine, plan, rows, {**bounds, **{name: KEYS[name] for name in named}}, limits) == expected


TYPES = {
    "int8": (pyarrow.int8(), [0, -1, -128, 127]),
    "uint8": (pyarrow.uint8(), [0, 255]),
    "int32": (pyarrow.int32(), [0, -(2**31), 2**31 - 1]),
    "int64": (pyarrow.int64(), [0, -(2**63), 2**63 - 1, 2**53 + 1, 2**53]),
    "uint64": (pyarrow.uint64(), [0, 2**64 - 1, 2**63, 2**63 - 1]),
    "float32": (pyarrow.float32(), [0.5, -0.0, NAN, INFINITY, 16777216.0]),
    "float64": (pyarrow.float64(), [0.1, -0.0, NAN, -INFINITY, 2.0**53, 1e300, 5e-324, -1e308]),
    "decimal4": (pyarrow.decimal128(4, 1), [Decimal("2.5"), Decimal("-0.1"), Decimal("999.9")]),
    "decimal37": (pyarrow.decimal128(37, 10), [Decimal("2.5"), Decimal("9" * 27 + "." + "9" * 10)]),
    "decimal38": (pyarrow.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1 - 10**38), Decimal(3)]),
    "decimal29": (pyarrow.decimal128(29, 28), [Decimal("0.1234567890123456789012345678"), Decimal("-9")]),
}
NUMBERS = [0, -1, 2.5, 0.1, 128, 255, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**400, Decimal("1e-400")]


def test_numbers_of_every_type_compare_exactly(engine):
    arrow = columns_of(**TYPES)
    formulas = []
    for name in TYPES:
        for number in NUMBERS:
            formulas += [col(name) < number, col(name) == number]
        formulas += [col(name).isin(NUMBERS), col(name) >= col("float64"), col(name).is_null()]
    for start in range(0, len(formulas), 120):  # a statement of all columns at once takes Spark long
        assert_truths(engine, arrow, formulas[start : start + 120])


BOUNDS = [
    Bounds(0, 5000, step=0.01),
    Bounds(-1, 1, step="1/3"),
    Bounds(-(2**52), 2**52, step=1),
    Bounds(0, 10**9, step=1000),
    Bounds(18, 65, step="1/7", nan=18, infinity=65, null=20),
    Bounds(-3, 3, step=1, infinity="drop", null=0, nan=-3),
]


def test_numbers_of_every_type_become_the_integers_of_the_oracle(engine):
    arrow = columns_of(**TYPES, flag=(pyarrow.bool_(), [True, False]))
    table = engine.table(arrow)
    makers = {
        f"{name} {place}": lambda rows, name=name, bounds=bounds: steps(rows[name], bounds)
        for name in [*TYPES, "flag"]
        for place, bounds in enumerate(BOUNDS)
    }
    for column, found in engine.values(table, **makers).items():
        name, place = column.split()
        values = arrow[name].to_pylist()
        assert found == [oracle.steps(value, BOUNDS[int(place)]) for value in values], (name, BOUNDS[int(place)])


TEXTS = ["", " ", "A", "B", "Z", "_", "a", "a ", "a\t", "ab", "b", "ä", "a\u0308", "ÿ", "ż", "日本", "\U0001f4b6", "\uffee"]


def test_text_compares_by_code_point(engine):
    arrow = columns_of(text=(pyarrow.string(), [*TEXTS, None]))
    assert_truths(engine, arrow, [col("text") < text for text in TEXTS])
    assert_truths(engine, arrow, [col("text") == text for text in TEXTS])
    assert_truths(engine, arrow, [col("text").isin(TEXTS[::2]), col("text") >= col("text")])


def test_keys_are_told_apart_to_the_letter(engine):
    keys = Keys([*TEXTS, "it's", 'quo"te', "back\\slash", "%s {} $1 :x", "null", None])
    plan = Group(source=SOURCE, keys=(GroupKey(column=CITY, values=keys),), measures=(CountRows(),))
    rows = [row(number, city=text) for number, text in enumerate([*keys.values, "A ", "NULL", "b\u0308", *TEXTS])]
    for limits in (Limits(rows=1), Limits(groups=1, rows_per_group=1), None):
        assert totals(engine, plan, rows, {CITY: keys}, limits) == oracle.compute(
            plan, rows, PERSON, Limits(rows=1), SALT
        )


def test_persons_of_text_are_told_apart_to_the_letter(engine):
    names = [*TEXTS, "it's", None, "x" * 10_000]
    arrow = pyarrow.table({"name": names * 3, "level": pyarrow.array([1] * 3 * len(names), pyarrow.int32())})
    table = engine.table(arrow, person="name", limits=Limits(rows=2), columns={"level": Keys([1])})
    plan = Group(
        source=SOURCE, keys=(GroupKey(column="level", values=Keys([1])),), measures=(CountRows(),)
    )
    assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [2 * (len(names) - 1)]


def test_lots_and_lengths_are_those_of_python(engine):
    texts = [*TEXTS, *(str(number) for number in range(200))]
    table = engine.table(columns_of(text=(pyarrow.string(), texts)))
    found = engine.values(table, lot=lambda rows: lot(rows["text"]), length=lambda rows: rows["text"].length())
    digests = [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
    assert found == {"lot": [int(one[:15], 16) for one in digests], "length": [len(text) for text in texts]}


def test_doubles_reach_the_engine_to_the_last_bit(engine):
    numbers = [0.1, 1e-7, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, -0.3, INFINITY]
    table = engine.table(columns_of(x=(pyarrow.int64(), [1])))
    makers = {f"c{place}": lambda _, number=number: double(number) for place, number in enumerate(numbers)}
    assert [values[0] for values in engine.values(table, **makers).values()] == numbers


def test_points_in_time_compare_in_utc(engine):
    utc, noon = datetime.UTC, datetime.datetime(2026, 1, 1, 12)
    eight = datetime.timezone(datetime.timedelta(hours=8))
    arrow = columns_of(
        at=(pyarrow.timestamp("us", "UTC"), [noon.replace(tzinfo=utc), datetime.datetime(1969, 7, 20, tzinfo=utc)]),
        seen=(pyarrow.timestamp("us"), [noon, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
        day=(pyarrow.date32(), [noon.date(), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    )
    table = engine.table(arrow)
    assert [table.schema[name] for name in ("at", "seen", "day")] == [Type.INSTANT, Type.TIMESTAMP, Type.DATE]
    formulas = [
        col("at") == noon.replace(hour=20, tzinfo=eight),
        col("at") < datetime.datetime(1970, 1, 1, tzinfo=utc),
        col("at") <= noon.replace(microsecond=1, tzinfo=utc),
        col("seen") == noon,
        col("seen") > datetime.datetime(9999, 12, 31, 23, 59, 59, 999998),
        col("seen") < noon.date(),
        col("day") < noon,
        col("day").isin([noon.date(), datetime.datetime(1, 1, 1)]),
        col("day") == datetime.date(9999, 12, 31),
    ]
    found = truths(engine, table, formulas)
    rows = arrow.to_pylist()
    assert found == [[oracle.evaluate(formula.expression, row) for row in rows] for formula in formulas]


def test_arithmetic_is_total(engine):
    huge = [1e308, -1e308, 1e150, 5e-324, NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e20, 1e-21]
    arrow = columns_of(
        x=(pyarrow.float64(), huge),
        y=(pyarrow.float64(), huge[::-1]),
        k=(pyarrow.int64(), [2**63 - 1, -(2**63), 0]),
        d=(pyarrow.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(0)]),
    )
    x, y, k, d = (col(name) for name in "xykd")
    values = [x * y, x / y, x - y, 1 / x, x / 0, k * k, k / k, k - d, d * d * d, 1 / d, x * x * y * y]
    assert_truths(engine, arrow, [condition for value in values for condition in (value > 0.5, value.is_null())])


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
    rows = [row(person, age=2**63 - 1) for person in range(1500)] + [row(9999, age=-(2**63))] * 5
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
    rows = [row(person, city=text) for person, text in enumerate(["key '399'", "KEY '1'", "key '1' ", *TEXTS, None])]
    plan = Group(source=SOURCE, keys=(GroupKey(column=CITY, values=keys),), measures=(CountRows(),))
    expected = oracle.compute(plan, rows, PERSON, Limits(rows=1), SALT)
    assert totals(engine, plan, rows, {CITY: keys}, Limits(rows=1)) == expected


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
    rows = [row(random.randrange(6), level=random.randrange(-5, 6), age=random.randrange(110)) for _ in range(60)]
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
