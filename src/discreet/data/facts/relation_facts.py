"""The columns of a relation, and whether every person has one row of it: public facts alone.

Declarations give the facts of a private table's columns, content those of a public one. From there they
propagate upward: a filter keeps them, a calculated column has those that `inferred` derives from its
expression, an aggregate of a person's rows those that follow from its column. A relation that would let one
person's rows affect those of another is refused here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.data.facts.colocation import check_colocated
from discreet.data.facts.inferred import completed, infer
from discreet.data.facts.joins import added_columns, check_equalities, is_unique_join
from discreet.data.facts.merged_columns import merge_facts
from discreet.data.facts.persons import (
    Tables,
    check_persons,
    has_person,
    no_person,
    person_columns,
    private_table,
)
from discreet.data.facts.question_tables import found_once
from discreet.data.facts.type_check import check_condition
from discreet.data.facts.usual_bounds import usual_count, usual_rows, usual_sum
from discreet.data.language.column_facts import ColumnFacts, Columns, types_of
from discreet.data.language.declarations import LARGEST_BOUND_STEPS, Bounds, Dates, Keys
from discreet.data.language.expressions import And, Column, Compare, Comparison, Expression, Literal
from discreet.data.language.relations import (
    NUMBERED,
    PLACED,
    Derive,
    Distinct,
    Equality,
    Filter,
    JoinPersons,
    JoinPublic,
    Named,
    PerPerson,
    Personal,
    PersonalFunction,
    Project,
    Relation,
    Source,
    Union,
    Window,
    WindowFunction,
)
from discreet.data.language.types import Type, column_type
from discreet.errors import UndeclaredColumn, UnsupportedQuery

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = [
    "columns_of_relation",
    "is_single",
    "person_columns",
    "personal_bounds",
    "window_total",
]

_FINER = 100
"""A mean of grid points is rounded to a grid this many times finer."""
_EXACT = frozenset({Type.INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE})
"""Types in which a literal equals one value at most, and equal values are one group."""


@found_once
def columns_of_relation(relation: Relation, tables: Tables) -> Columns:
    """Return the columns of a relation over declared tables, or refuse the relation.

    Raises
    ------
    UndeclaredColumn
        For a table or a column that does not exist.
    UnsupportedQuery
        For an expression whose types do not fit, and for a relation in which rows of different persons
        would be combined.
    """
    columns = _columns(relation, tables)
    check_persons(relation, tables)
    check_colocated(relation, tables)
    return columns


@found_once
def is_single(relation: Relation, tables: Tables) -> bool:
    """Return whether every person has at most one row, for any data."""
    if isinstance(relation, PerPerson):
        grouped = set(relation.keys) - person_columns(relation.source, tables)
        return not grouped or is_single(relation.source, tables)
    if isinstance(relation, Filter) and _fixed(relation.condition) & _told_apart(relation.source, tables):
        return True
    if isinstance(relation, Filter | Project | Derive | Window | Distinct):
        return is_single(relation.source, tables)
    if isinstance(relation, JoinPublic):
        return is_single(relation.source, tables) and is_unique_join(
            relation, _columns(relation.source, tables), tables
        )
    if isinstance(relation, JoinPersons):
        return is_single(relation.left, tables) and is_single(relation.right, tables)
    return not has_person(relation, tables)


def _fixed(condition: Expression) -> set[str]:
    """Return columns that have one value in every row for which a condition is TRUE."""
    conjuncts = condition.operands if isinstance(condition, And) else (condition,)
    return {
        one.left.name
        for one in conjuncts
        if isinstance(one, Compare) and one.operator is Comparison.EQUAL
        if isinstance(one.left, Column) and isinstance(one.right, Literal)
    }


def _told_apart(relation: Relation, tables: Tables) -> set[str]:
    """Return columns by which a person's rows differ, each by itself: row numbers, and the only key.

    A key counts only if a literal equals one of its values at most, as floats do not.
    """
    if isinstance(relation, PerPerson):
        keys = set(relation.keys) - person_columns(relation.source, tables)
        known = _columns(relation.source, tables)
        return keys if len(keys) == 1 and all(known[key].type in _EXACT for key in keys) else set()
    if not isinstance(relation, Filter | Derive | Project | Window):
        return set()
    below = _told_apart(relation.source, tables)
    if isinstance(relation, Window):
        numbered = relation.function is WindowFunction.ROW_NUMBER and not relation.partition
        return below | {relation.name} if numbered else below
    if isinstance(relation, Filter):
        return below
    calculated = {column.name: column.expression for column in relation.columns}
    kept = set() if isinstance(relation, Project) else below - set(calculated)
    return kept | {
        name
        for name, expression in calculated.items()
        if isinstance(expression, Column) and expression.name in below
    }


def personal_bounds(personal: Personal, columns: Columns) -> Bounds:
    """Return the grid on which a sum or a mean of a person's values is taken."""
    assert personal.column is not None  # noqa: S101
    known = columns[personal.column].bounds_of_sums
    if known is None or not (personal.bounds is None or known.contains(personal.bounds)):
        raise UndeclaredColumn(
            f"the {personal.function.value} of {personal.column!r} of each person needs bounds, which were "
            f"never declared; count its values, or have its owner declare "
            f"columns={{{personal.column!r}: Bounds(lower, upper, step=...)}}"
        )
    return known if personal.bounds is None else personal.bounds


@found_once
def _columns(relation: Relation, tables: Tables) -> Columns:
    if isinstance(relation, Source):
        return _declared(relation, tables)
    if isinstance(relation, JoinPersons):
        return _joined_persons(relation, tables)
    if isinstance(relation, Union):
        _check_same_kind(relation, tables)
        return merge_facts([_columns(source, tables) for source in relation.sources])
    columns = _columns(relation.source, tables)
    if isinstance(relation, Filter):
        check_condition(relation.condition, types_of(columns))
        return columns
    if isinstance(relation, Project | Derive):
        calculated = {column.name: _calculated(column, columns) for column in relation.columns}
        return calculated if isinstance(relation, Project) else _apart({**columns, **calculated})
    if isinstance(relation, JoinPublic):
        return _joined_public(relation, columns, tables)
    if isinstance(relation, PerPerson):
        return _per_person(relation, columns, tables)
    if isinstance(relation, Distinct):
        if not has_person(relation, tables):
            raise no_person("DISTINCT")
        _check_ordered(columns, columns, "DISTINCT")
        return columns
    if isinstance(relation, Window):
        return _window(relation, columns, tables)
    raise UnsupportedQuery("the request holds a relation that is not supported; ask without it")


def _declared(source: Source, tables: Tables) -> Columns:
    table = private_table(source.table, tables)
    stated = dict(source.bounds)
    for name, bounds in stated.items():
        _check_stated(name, bounds, table)
    columns = {}
    for name, found in table.schema.items():
        declared = stated.get(name, table.columns.get(name))
        columns[name] = completed(
            ColumnFacts(
                type=found,
                bounds=declared if isinstance(declared, Bounds) else None,
                keys=declared if isinstance(declared, Keys) else None,
                dates=declared if isinstance(declared, Dates) else None,
                digits=table._digits(name),
            )
        )
    return columns


def _check_stated(name: str, bounds: Bounds, table: Table) -> None:
    """Refuse bounds that a question brings for what is not a number, or beyond what was declared."""
    kind, declared = column_type(name, table.schema), table.columns.get(name)
    if not kind.is_number or name == table.person or isinstance(declared, Keys):
        raise UnsupportedQuery(f"bounds are stated of {name!r}, which cannot have them; state none")
    if isinstance(declared, Bounds) and not declared.contains(bounds):
        raise UnsupportedQuery(f"bounds of {name!r} are declared, and a question may only narrow them")


def _calculated(column: Named, columns: Columns) -> ColumnFacts:
    constant = column.expression.value if isinstance(column.expression, Literal) else None
    if isinstance(constant, int) and not -(1 << 63) <= constant < 1 << 63:
        raise UnsupportedQuery("a column is an integer beyond 64 bits; write a smaller one, or leave it out")
    facts = infer(column.expression, columns)
    if facts.type is Type.NULL:
        raise UnsupportedQuery("a column is NULL in every row; leave it out, or write a value of some type")
    return facts


def _joined_public(relation: JoinPublic, columns: Columns, tables: Tables) -> Columns:
    added = added_columns(relation, tables)
    check_equalities(relation.on, columns, added.known)
    if not has_person(relation, tables) and not is_unique_join(relation, columns, tables):
        raise no_person("a join that can find several public rows for one private row")
    return _beside(columns, added.known, added.columns, outer=relation.outer)


def _joined_persons(relation: JoinPersons, tables: Tables) -> Columns:
    if not has_person(relation, tables):
        raise no_person("a join of private tables")
    left, right = _columns(relation.left, tables), _columns(relation.right, tables)
    check_equalities(relation.on, left, right)
    added = relation.columns
    if added is None:
        hidden = {part.right for part in relation.on} | person_columns(relation.right, tables)
        added = tuple(Equality(left=name, right=name) for name in right if name not in hidden)
    return _beside(left, right, added, outer=relation.outer)


def _beside(columns: Columns, others: Columns, added: Iterable[Equality], *, outer: bool) -> Columns:
    listed = {}
    for column in added:
        column_type(column.right, types_of(others))
        facts = others[column.right]
        listed[column.left] = _or_null(facts) if outer else facts
    if set(listed) & set(columns):
        raise _one_name()
    return _apart({**columns, **listed})


def _or_null(facts: ColumnFacts) -> ColumnFacts:
    """Return what is known of a column in which values may be missing besides."""
    if facts.keys is None or facts.keys.has_null:
        return facts
    return replace(facts, keys=Keys([*facts.keys.values, None]))


def window_total(window: Window) -> Personal:
    """Return the sum or the mean that a window takes, as the aggregate of a person's rows that it is."""
    return Personal(name=window.name, function=PersonalFunction(window.function.value), column=window.column)


def _apart(columns: Columns) -> Columns:
    if len({name.lower() for name in columns}) != len(columns):
        raise _one_name()
    return columns


def _one_name() -> UnsupportedQuery:
    return UnsupportedQuery(
        "two columns of a join have the same name, apart from case; select the columns and "
        "give them different names"
    )


def _check_same_kind(relation: Union, tables: Tables) -> None:
    if len({has_person(source, tables) for source in relation.sources}) > 1:
        raise no_person("a union with rows that have a person")


def _per_person(relation: PerPerson, columns: Columns, tables: Tables) -> Columns:
    if not has_person(relation, tables):
        raise no_person("an aggregate of each person's rows")
    _check_ordered(relation.keys, columns, "GROUP BY")
    found = {key: columns[key] for key in relation.keys}
    rows = usual_rows(relation.source, tables, _columns)
    return {**found, **{one.name: _personal(one, columns, rows) for one in relation.columns}}


def _personal(personal: Personal, columns: Columns, rows: int | None) -> ColumnFacts:
    function, column = personal.function, personal.column
    if column is None or function is PersonalFunction.COUNT:
        if column is not None:
            column_type(column, types_of(columns))
        return ColumnFacts(type=Type.INTEGER, least=Fraction(0), usual=usual_count(rows))
    _check_ordered([column], columns, function.value)
    if function is PersonalFunction.COUNT_DISTINCT:
        return ColumnFacts(type=Type.INTEGER, least=Fraction(0), usual=usual_count(rows))
    if function in {PersonalFunction.MINIMUM, PersonalFunction.MAXIMUM}:
        return columns[column]
    bounds = personal_bounds(personal, columns)
    if function is PersonalFunction.SUM:
        return ColumnFacts(
            type=Type.INTEGER if bounds.step == 1 else Type.FLOAT,
            least=bounds.lower if bounds.lower >= 0 else None,
            most=bounds.upper if bounds.upper <= 0 else None,
            usual=usual_sum(bounds, rows),
        )
    return ColumnFacts(type=Type.FLOAT, bounds=_finer(bounds), least=bounds.lower, most=bounds.upper)


def _finer(bounds: Bounds) -> Bounds:
    farthest = max(abs(bounds.lower), abs(bounds.upper))
    step = bounds.step / _FINER
    if farthest / step > LARGEST_BOUND_STEPS:
        step = bounds.step
    return Bounds(bounds.lower, bounds.upper, step=step)


def _window(relation: Window, columns: Columns, tables: Tables) -> Columns:
    if not has_person(relation, tables):
        raise no_person("a window")
    _check_ordered([*relation.partition, *(part.column for part in relation.order)], columns, "OVER")
    rows = usual_rows(relation.source, tables, _columns)
    usual = usual_count(rows)
    if relation.function in NUMBERED:
        facts = ColumnFacts(type=Type.INTEGER, least=Fraction(1), usual=usual)
    elif relation.function is WindowFunction.COUNT:
        if relation.column is not None:
            column_type(relation.column, types_of(columns))
        facts = ColumnFacts(type=Type.INTEGER, least=Fraction(0), usual=usual)
    elif relation.function in {WindowFunction.SUM, WindowFunction.MEAN}:
        facts = _personal(window_total(relation), columns, rows)
    else:
        assert relation.column is not None  # noqa: S101
        _check_ordered([relation.column], columns, relation.function.value)
        facts = columns[relation.column]
        if relation.function in PLACED:
            facts = _or_null(facts)
    if relation.name in columns:
        raise _one_name()
    return _apart({**columns, relation.name: facts})


def _check_ordered(names: Iterable[str], columns: Columns, place: str) -> None:
    """Refuse columns that do not exist, or whose values cannot be compared."""
    for name in names:
        if column_type(name, types_of(columns)) in {Type.OTHER, Type.NULL}:
            raise UnsupportedQuery(
                f"{place} compares a column that can only be tested with IS NULL; choose other columns"
            )
