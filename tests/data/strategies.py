"""Generated tables, expressions and plans, made to be hard."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow
from hypothesis import strategies as st

from canary import DATA_NUMBER, DATA_TEXT
from data import oracle
from discreet.data import (
    EACH_ROW,
    Axis,
    Bounds,
    ContingencyTable,
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
    Table,
    Type,
    col,
)

PERSON = 'the "person"'
CITY = "ci'ty; DROP TABLE rows --"
COST = "coût 💶"

SCHEMA = pyarrow.schema(
    [
        (PERSON, pyarrow.int64()),
        (CITY, pyarrow.string()),
        ("flag", pyarrow.bool_()),
        ("age", pyarrow.int64()),
        ("level", pyarrow.int8()),
        (COST, pyarrow.float64()),
        ("amount", pyarrow.decimal128(12, 3)),
        ("day", pyarrow.date32()),
        ("seen", pyarrow.timestamp("us")),
    ]
)

oracle.TYPES |= {
    PERSON: Type.INTEGER,
    CITY: Type.TEXT,
    "flag": Type.BOOLEAN,
    "age": Type.INTEGER,
    "level": Type.INTEGER,
    COST: Type.FLOAT,
    "amount": Type.DECIMAL,
    "day": Type.DATE,
    "seen": Type.TIMESTAMP,
}

CITIES = ["Taipei", "O'Hare", 'quo"te', "naïve\\n", "", "a|b", "日本"]
DAYS = [
    datetime.date(1970, 1, 1),
    datetime.date(2026, 2, 28),
    datetime.date(1, 1, 1),
    datetime.date(9999, 12, 31),
]
TIMES = [
    datetime.datetime(1970, 1, 1),
    datetime.datetime(2026, 2, 28, 12, 30, 0, 1),
    datetime.datetime(2026, 2, 28, 23, 59, 59, 999999),
]
INTEGERS = [0, 1, -1, 17, 40, 110, DATA_NUMBER, 2**53, 2**53 + 1, -(2**63), 2**63 - 1]
FLOATS = [0.0, -0.0, 0.1, 0.3, 2.5, -2.5, 17.0, 40.0, 1e300, -1e300, 5e-324, 1e-160, 0.5, 1.5]
SPECIAL = [float("nan"), float("inf"), float("-inf")]
DECIMALS = [Decimal(0), Decimal("0.100"), Decimal("-2.500"), Decimal("17.000"), Decimal("999999999.999")]

cities = st.sampled_from([None, *CITIES])
values = {
    CITY: st.one_of(cities, st.just(DATA_TEXT)),
    "flag": st.sampled_from([None, True, False]),
    "age": st.one_of(st.none(), st.sampled_from(INTEGERS), st.integers(-5, 120)),
    "level": st.one_of(st.integers(-3, 3), st.none(), st.integers(-128, 127)),
    COST: st.one_of(st.none(), st.sampled_from(FLOATS + SPECIAL), st.floats(-10, 60)),
    "amount": st.one_of(st.none(), st.sampled_from(DECIMALS)),
    "day": st.one_of(st.none(), st.sampled_from(DAYS)),
    "seen": st.one_of(st.none(), st.sampled_from(TIMES)),
}


def rows_of(persons, **options):
    return st.lists(st.fixed_dictionaries({PERSON: persons, **values}), **options)


persons = st.sampled_from([0, 0, 0, 0, 1, 1, 1, 2, None])  # few, so that limits are exceeded

bounds = {
    COST: st.sampled_from(
        [
            Bounds(0, 50, step=0.5),
            Bounds(-3, 3, step=0.1, nan=0.5, infinity="drop", null=-3),
            Bounds(10, 40, step=5, infinity=20),
            Bounds(-(2**40), 2**40, step=1, null=7),
        ]
    ),
    "age": st.sampled_from([Bounds(0, 110), Bounds(-(2**52), 2**52, null=1), Bounds(18, 65, step="1/3")]),
    "level": st.sampled_from([Bounds(-5, 5), Bounds(0, 100, step=10)]),
    "flag": st.just(Bounds(0, 1)),
    "amount": st.sampled_from([Bounds(0, 20, step=0.001), Bounds(-3, 1000, step=1, null=0)]),
}
keys = {
    CITY: st.lists(cities, min_size=2, max_size=6, unique=True).map(Keys),
    "level": st.lists(st.integers(-3, 3), min_size=3, max_size=6, unique=True).map(Keys),
    "flag": st.sampled_from([Keys([True, False]), Keys([False, None])]),
    "day": st.sampled_from([Keys(DAYS), Keys([DAYS[1], None])]),
}
limits = st.one_of(
    st.builds(Limits, rows=st.integers(1, 3)),
    st.builds(Limits, groups=st.integers(1, 2), rows_per_group=st.integers(1, 2)),
)
salts = st.text("0123456789abcdef", min_size=32, max_size=32).map(lambda text: Salt(value=text))


numbers = st.one_of(
    st.sampled_from(INTEGERS),
    st.sampled_from(FLOATS),
    st.sampled_from(DECIMALS),
    st.sampled_from([2**70, -(2**70)]),
)
number_columns = st.sampled_from(["age", "level", COST, "amount"]).map(col)
arithmetic = st.recursive(
    number_columns,
    lambda inner: st.one_of(
        st.tuples(inner, st.one_of(inner, st.integers(-9, 9), st.sampled_from([0.1, 2.5]))).flatmap(
            lambda pair: st.sampled_from(
                [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: b * a, lambda a, b: a / b]
            ).map(lambda operate: operate(*pair))
        )
    ),
    max_leaves=3,
)
comparisons = st.sampled_from(
    [
        lambda a, b: a < b,
        lambda a, b: a <= b,
        lambda a, b: a > b,
        lambda a, b: a >= b,
        lambda a, b: a == b,
        lambda a, b: a != b,
    ]
)
atoms = st.one_of(
    st.builds(lambda f, a, b: f(a, b), comparisons, arithmetic, st.one_of(numbers, number_columns)),
    st.builds(lambda f, a: f(col(CITY), a), comparisons, st.sampled_from(CITIES)),
    st.builds(lambda f, a: f(col("day"), a), comparisons, st.sampled_from(DAYS + TIMES)),
    st.builds(lambda f, a: f(col("seen"), a), comparisons, st.sampled_from(DAYS + TIMES)),
    st.builds(lambda f, a: f(col("flag"), a), comparisons, st.booleans()),
    st.just(col("flag")),
    st.sampled_from([*values]).map(lambda name: col(name).is_null()),
    st.builds(lambda a, v: a.isin(v), number_columns, st.lists(numbers, min_size=1, max_size=4)),
    st.builds(lambda v: col(CITY).isin(v), st.lists(st.sampled_from(CITIES), min_size=1, max_size=4)),
    st.builds(lambda v: col("day").isin(v), st.lists(st.sampled_from(DAYS + TIMES), min_size=1, max_size=3)),
    st.builds(lambda a, low, high: a.between(low, high), number_columns, numbers, numbers),
)
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a: ~a, inner),
    ),
    max_leaves=6,
)


def tables(columns):
    """The columns of no, one or two contingency tables."""
    if not columns:
        return st.just([])
    names = st.lists(st.sampled_from([*columns]), unique=True, min_size=1, max_size=3)
    return st.sampled_from([0, 0, 0, 1, 2]).flatmap(
        lambda many: st.lists(names, min_size=many, max_size=many)
    )


def axes(name, declared):
    """An axis of at most 7 cells."""
    if isinstance(declared, Keys):
        return st.just(Axis(column=name, values=declared))
    points = declared.upper_steps - declared.lower_steps + 1
    widths = st.sampled_from([-(-points // cells) for cells in (1, 2, 5, 7)] + [2 * points])
    return widths.map(lambda width: Axis(column=name, values=declared, width=width))


@st.composite
def plans(draw):
    """A plan over the table "t", and the declarations that admit it."""
    columns = {}
    for name in draw(st.lists(st.sampled_from([*bounds]), unique=True, max_size=2)):
        columns[name] = draw(bounds[name])
    grouped = draw(
        st.lists(st.sampled_from([*keys]).filter(lambda name: name not in columns), unique=True, max_size=2)
    )
    for name in grouped:
        columns[name] = draw(keys[name])
    measures = [CountRows()] if draw(st.booleans()) or not columns else []
    measures += [CountNonNull(column=name) for name in draw(st.lists(st.sampled_from([*values]), max_size=1))]
    for name, declared in columns.items():
        if isinstance(declared, Bounds):
            center = draw(st.sampled_from([declared.lower, declared.upper, 0]))
            measures += [
                Sum(column=name, bounds=declared, center=center),
                CountNonNull(column=name, bounds=declared),
            ]
    for names in draw(tables(columns)):
        measures.append(ContingencyTable(axes=tuple(draw(axes(name, columns[name])) for name in names)))
    source = Source(table="t")
    for condition in draw(
        st.sampled_from([0, 0, 0, 1, 2]).flatmap(lambda n: st.lists(formulas, min_size=n, max_size=n))
    ):
        source = Filter(source=source, condition=condition.expression)
    group = Group(
        source=source,
        keys=tuple(GroupKey(column=name, values=columns[name]) for name in grouped),
        present=tuple(
            draw(axes(name, columns[name])) for name in draw(st.sampled_from([[], [], [*columns][:2]]))
        ),
        measures=tuple(dict.fromkeys(measures)) or (CountRows(),),
    )
    return group, columns


def arrow(rows):
    return pyarrow.Table.from_pylist(rows, schema=SCHEMA)


def declared(rows, columns, limits=None):
    """A table of generated rows; without limits each row is a person."""
    person = {"person": EACH_ROW} if limits is None else {"person": PERSON, "limits": limits}
    return Table(arrow(rows), columns=columns, **person)
