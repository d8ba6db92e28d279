"""Generated relations of every kind over two private tables and two public ones."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow
from hypothesis import strategies as st

from discreet.data import Bounds, Keys, Limits, Table, col
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Equality,
    Filter,
    JoinPersons,
    JoinPublic,
    Named,
    Order,
    PerPerson,
    Personal,
    Project,
    Source,
    Union,
    Window,
)
from discreet.data.language.types import Type
from discreet.data.tables.public_table import PublicTable
from discreet.errors import RequestRefused

TEXTS = ["a", "a", "A", "", "é", "e\u0301", "a "]
FLOATS = [0.0, -0.0, 1.5, 2.25, -7.5, 1e300, float("nan"), float("inf"), float("-inf")]
DAYS = [datetime.date(2026, 1, 31), datetime.date(1969, 7, 20)]

SCHEMAS = {
    "visits": pyarrow.schema(
        [
            ("patient", pyarrow.int64()),
            ("city", pyarrow.string()),
            ("ward", pyarrow.int64()),
            ("cost", pyarrow.float64()),
            ("amount", pyarrow.decimal128(9, 2)),
            ("day", pyarrow.date32()),
            ("urgent", pyarrow.bool_()),
        ]
    ),
    "tests": pyarrow.schema(
        [
            ("Person", pyarrow.int32()),
            ("city", pyarrow.string()),
            ("ward", pyarrow.int16()),
            ("cost", pyarrow.float32()),
            ("day", pyarrow.date32()),
        ]
    ),
    "cities": pyarrow.schema(
        [("name", pyarrow.string()), ("zone", pyarrow.int64()), ("size", pyarrow.float64())]
    ),
    "calendar": pyarrow.schema(
        [("day", pyarrow.date32()), ("ward", pyarrow.int64()), ("note", pyarrow.string())]
    ),
}
COLUMNS = {
    "cost": Bounds(-5, 20, step=0.5),
    "ward": Bounds(0, 6),
    "city": Keys(["a", "A", None]),
}
VALUES = {
    "city": st.sampled_from([None, *TEXTS]),
    "ward": st.sampled_from([None, 1, 1, 2, -2, 100]),
    "cost": st.sampled_from([None, *FLOATS[:5], *FLOATS[6:]]),
    "amount": st.sampled_from([None, Decimal("0.10"), Decimal("-2.50"), Decimal("7.00")]),
    "day": st.sampled_from([None, *DAYS]),
    "urgent": st.sampled_from([None, True, False]),
    "name": st.sampled_from([None, *TEXTS]),
    "zone": st.sampled_from([None, 1, 2, 3]),
    "size": st.sampled_from([None, 1.5, 0.0, float("nan"), 2.0]),
    "note": st.sampled_from([None, "x", "y"]),
}
PERSONS = st.sampled_from([1, 1, 2, 2, 3, None])
PERSON = {"visits": "patient", "tests": "Person"}


def rows_of(table, largest):
    names = [name for name in SCHEMAS[table].names if name in VALUES]
    person = {PERSON[table]: PERSONS} if table in PERSON else {}
    return st.lists(
        st.fixed_dictionaries({**person, **{n: VALUES[n] for n in names}}),
        min_size=largest // 2 if table in PERSON else 0,
        max_size=largest,
    )


data = st.fixed_dictionaries(
    {"visits": rows_of("visits", 12), "tests": rows_of("tests", 8), "cities": rows_of("cities", 6)}
    | {"calendar": rows_of("calendar", 4)}
)


def arrow(table, rows):
    return pyarrow.Table.from_pylist(rows, schema=SCHEMAS[table])


def opened(rows):
    """Tables of some rows; the private ones in a database each."""
    private = {
        name: Table(
            arrow(name, rows[name]),
            person=person,
            limits=Limits(rows=4),
            columns={one: known for one, known in COLUMNS.items() if one in SCHEMAS[name].names},
        )
        for name, person in PERSON.items()
    }
    return private | {name: PublicTable(arrow(name, rows[name])) for name in ("cities", "calendar")}


EMPTY = opened(dict.fromkeys(SCHEMAS, ()))

_free = iter(range(10**9))


def new_name():
    return f"new{next(_free)}"


def named(names):
    return tuple(Named(name=name, expression=col(name).expression) for name in names)


@st.composite
def relations(draw, tables=EMPTY, most=5):
    """A relation that `facts` admits, of up to `most` steps from a table."""
    relation = Source(table=draw(st.sampled_from(["visits", "tests"])))
    for _ in range(draw(st.integers(1, most))):
        relation = grown(draw, draw(st.sampled_from(STEPS)), relation, tables)
    return relation


@st.composite
def one_of_each(draw, tables=EMPTY, most=2):
    """Relations that end in each kind of step, after up to `most` others."""
    found = []
    for step in STEPS:
        below = draw(st.one_of(st.just(Source(table="visits")), relations(tables, most)))
        found.append(grown(draw, step, below, tables))
    return found


def grown(draw, step, relation, tables):
    """A relation with one more step, or as it is if the step is refused."""
    try:
        found = step(draw, relation, columns_of_relation(relation, tables), tables)
        columns_of_relation(found, tables)
    except RequestRefused:
        return relation
    return found


def one_of(draw, columns, *types):
    names = [name for name, facts in columns.items() if not types or facts.type in types]
    return draw(st.sampled_from(names)) if names else "nothing"


def filtered(draw, relation, columns, tables):
    name = one_of(draw, columns)
    kind = columns[name].type
    if kind in {Type.INTEGER, Type.FLOAT, Type.DECIMAL}:
        condition = draw(st.sampled_from([col(name) >= 1, col(name) != 2, col(name) + 1 < 4]))
    elif kind is Type.TEXT:
        condition = col(name) >= "A"
    else:
        condition = ~col(name).is_null()
    return Filter(source=relation, condition=condition.expression)


def projected(draw, relation, columns, tables):
    kept = draw(st.lists(st.sampled_from(list(columns)), min_size=1, unique=True))
    return Project(source=relation, columns=named(kept))


def derived(draw, relation, columns, tables):
    name = one_of(draw, columns, Type.INTEGER, Type.FLOAT)
    new = draw(st.sampled_from([name, new_name()]))
    return Derive(source=relation, columns=(Named(name=new, expression=(col(name) * 2 + 1).expression),))


def joined_public(draw, relation, columns, tables):
    table = draw(st.sampled_from(["cities", "calendar"]))
    right = draw(st.sampled_from(list(tables[table].schema)))
    left = one_of(draw, columns, tables[table].schema[right])
    added = [Equality(left=new_name(), right=name) for name in tables[table].schema]
    return JoinPublic(
        source=relation,
        table=table,
        on=(Equality(left=left, right=right),),
        columns=draw(st.sampled_from([None, tuple(added)])),
        outer=draw(st.booleans()),
    )


def joined_persons(draw, relation, columns, tables):
    right = draw(relations(tables, 2))
    others = columns_of_relation(right, tables)
    shared = [name for name in columns if name in others and columns[name].type == others[name].type]
    on = draw(st.lists(st.sampled_from(shared), max_size=1)) if shared else []
    added = draw(st.lists(st.sampled_from(list(others)), max_size=2, unique=True))
    return JoinPersons(
        left=relation,
        right=right,
        on=tuple(Equality(left=name, right=name) for name in on),
        columns=tuple(Equality(left=new_name(), right=name) for name in added),
        outer=draw(st.booleans()),
    )


def united(draw, relation, columns, tables):
    other = draw(relations(tables, 2))
    others = columns_of_relation(other, tables)
    shared = [name for name in columns if name in others and columns[name].type == others[name].type]
    if not shared:
        return Union(sources=(relation, relation))
    return Union(sources=tuple(Project(source=one, columns=named(shared)) for one in (relation, other)))


def per_person(draw, relation, columns, tables):
    keys = draw(st.lists(st.sampled_from(list(columns)), max_size=1))
    listed = []
    for function in draw(
        st.lists(
            st.sampled_from(["rows", "count", "count distinct", "sum", "mean", "minimum", "maximum"]),
            min_size=1,
            max_size=3,
        )
    ):
        name = one_of(draw, columns)
        if function in {"sum", "mean"}:
            known = [name for name, facts in columns.items() if facts.bounds is not None]
            name = draw(st.sampled_from(known)) if known else name
        of = {"function": "count"} if function == "rows" else {"function": function, "column": name}
        listed.append(Personal(name=new_name(), **of))
    return PerPerson(source=relation, keys=tuple(keys), columns=tuple(listed))


def distinct(draw, relation, columns, tables):
    # Of few columns, so that rows of several people are equal.
    kept = draw(st.lists(st.sampled_from(list(columns)), min_size=1, max_size=2, unique=True))
    return Distinct(source=Project(source=relation, columns=named(kept)) if draw(st.booleans()) else relation)


def windowed(draw, relation, columns, tables):
    shared = [name for name in columns if name in {"city", "ward", "urgent", "day"}] or list(columns)
    partition = tuple(draw(st.lists(st.sampled_from(shared), max_size=1)))
    function = draw(st.sampled_from(["row number"] * 3 + ["count", "minimum", "maximum"]))
    more = {"column": one_of(draw, columns)}
    if function == "row number":
        names = draw(st.lists(st.sampled_from(list(columns)), min_size=1, max_size=2, unique=True))
        more = {"order": tuple(Order(column=name, descending=draw(st.booleans())) for name in names)}
    return Window(source=relation, name=new_name(), function=function, partition=partition, **more)


STEPS = [
    filtered,
    projected,
    derived,
    joined_public,
    joined_persons,
    united,
    per_person,
    distinct,
    windowed,
]
