"""From names to a plan: what a query means over the declared tables, before a budget is offered.

Keys and calculations become columns here; what each aggregate measures, and how outputs share measures, is
defined in `measures`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from discreet.data import Aggregate, Group, GroupKey, Keys, Plan, Statistics, Table, Type, sensitivity
from discreet.data.facts.limits import limits_of
from discreet.data.facts.persons import person_columns
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.column_facts import Columns, types_of
from discreet.data.language.description import describe_expression
from discreet.data.language.expressions import Call, Column, Expression, columns_of, walk
from discreet.data.language.relations import (
    Filter,
    Named,
    Project,
    Relation,
    Source,
    public_tables,
    sources_of,
)
from discreet.data.language.types import column_type, suggestion
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries.binding.measures import Facts, outputs_of
from discreet.queries.binding.missing_declarations import missing_keys
from discreet.queries.outputs.answer_rows import AnswerRows
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.counts_sums_means import CountOutput
from discreet.queries.outputs.frequent import FrequentOutput
from discreet.queries.outputs.key_functions import check_over_answer, key_schema
from discreet.queries.outputs.quantiles_and_extremes import ChoiceOutput
from discreet.queries.outputs.windows.window_types import check_additive, window_type
from discreet.queries.question.answer_levels import grouping_name
from discreet.queries.question.per_person import take_name
from discreet.queries.question.post_processing import PostProcessing, check_types
from discreet.queries.question.query import Query, key_facts, key_of
from discreet.records import dataclass

__all__ = ["BoundQuery", "bind", "own_columns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundQuery:
    """A query over declared tables: all that is public about it, except for a budget.

    Attributes
    ----------
    plan : Plan
        What is computed.
    outputs : tuple of QueryOutput
        How the answer is computed from it.
    statistics : Statistics
        How far one person moves each measure.
    versions : tuple of (table, version)
        Which data are read.
    together : int
        With how many others, itself included, an output that is chosen for its confidence is calculated.
    """

    plan: Plan
    outputs: tuple[QueryOutput, ...]
    statistics: Statistics
    versions: tuple[tuple[str, str], ...]
    together: int = 1


def bind(query: Query, tables: Mapping[str, Table]) -> BoundQuery:
    """Return what a query means over the declared tables, or refuse it; no data is read.

    Raises
    ------
    UndeclaredColumn
        For a table or a column that does not exist, a key without declared keys, a sum or mean without
        bounds.
    UnsupportedQuery
        For a condition that compares what cannot be compared, of rows or of the answer.
    """
    read = (*sources_of(query.relation), *public_tables(query.relation))
    for name in read:
        if name not in tables:
            known = suggestion(name, dict.fromkeys(tables, Type.OTHER)) if tables else "none"
            raise UndeclaredColumn(f"there is no such table; known tables: {known}")
    relation, aggregates = _calculated(query)
    columns = columns_of_relation(relation, tables)
    persons, own = person_columns(relation, tables), own_columns(relation, tables)
    listed, grouped = dict(query.listed), key_facts(query, tables)
    keys = tuple(
        GroupKey(
            column=key.name,
            values=listed.get(key.name) or _keys(key.name, grouped, columns, persons, own),
        )
        for key in query.keys
    )
    outputs = outputs_of(
        aggregates,
        Facts(
            columns=columns,
            persons=persons,
            own=own,
            limits=limits_of(relation, tables),
            cells=prod(len(key.values) for key in keys),
        ),
    )
    answered = {key.column: key.values.type for key in keys}
    answered |= {output.name: _answered(output) for output in outputs}
    check_types(query.after, answered | _types_of_calculated(query, keys, outputs, answered))
    check_additive(query.after.levels, outputs)
    rows = AnswerRows(keys=keys, levels=query.after.levels).size
    measures = dict.fromkeys(measure for output in outputs for measure in output.measures)
    plan = Group(source=relation, keys=keys, measures=tuple(measures))
    return BoundQuery(
        plan=plan,
        outputs=outputs,
        statistics=sensitivity(plan, tables),
        versions=tuple((name, tables[name].version) for name in read),
        together=max(
            (_read_together(one.expression, query.after, outputs, rows) for one in query.after.calculated),
            default=1,
        ),
    )


def _calculated(query: Query) -> tuple[Relation, tuple[tuple[str, Aggregate], ...]]:
    """Return the relation with every calculation as a separate column, and the aggregates of columns.

    A query of plain columns keeps its relation unchanged.
    """
    operands = [operand for _, aggregate in query.outputs for operand in aggregate.operands]
    plain = all(isinstance(operand, Column) for operand in operands)
    if plain and all(key == key_of(key.name) for key in query.keys):
        return query.relation, query.outputs
    taken = {key.name.lower() for key in query.keys}
    names: dict[Expression, str] = {key.expression: key.name for key in query.keys}
    for operand in operands:
        if operand not in names:
            names[operand] = take_name(describe_expression(operand), taken)
    columns = tuple(Named(name=name, expression=expression) for expression, name in names.items())
    aggregates = tuple(
        (name, aggregate.of(*(Column(name=names[operand]) for operand in aggregate.operands)))
        for name, aggregate in query.outputs
    )
    return Project(source=query.relation, columns=columns), aggregates


def _answered(output: QueryOutput) -> Type:
    """Return the type that the values of an output have; of lists, `OTHER`."""
    if isinstance(output, FrequentOutput):
        values = output.histogram.values
        return values.type if output.most is None and isinstance(values, Keys) else Type.OTHER
    return Type.INTEGER if isinstance(output, CountOutput) else Type.FLOAT


def _types_of_calculated(
    query: Query,
    keys: Sequence[GroupKey],
    outputs: Sequence[QueryOutput],
    answered: Mapping[str, Type],
) -> dict[str, Type]:
    """Return the types of calculated columns, or refuse them."""
    frequent = {output.name for output in outputs if isinstance(output, FrequentOutput)}
    schema = {name: Type.OTHER if name in frequent else kind for name, kind in answered.items()}
    if query.after.levels:
        schema |= {grouping_name(key.name): Type.INTEGER for key in query.keys}
    else:
        _check_replaced([one.expression for one in query.after.calculated], keys)
    public = key_schema(keys)
    schema |= {window.name: window_type(window, schema, public) for window in query.after.windows}
    return {one.name: check_over_answer(one.expression, schema, public) for one in query.after.calculated}


def _check_replaced(expressions: Sequence[Expression], keys: Sequence[GroupKey]) -> None:
    """Refuse COALESCE of a key that is never NULL: those who write it expect a group of missing keys."""
    lacking = {key.column for key in keys if not key.values.has_null}
    for node in (part for expression in expressions for part in walk(expression)):
        if not isinstance(node, Call) or node.function.name != "coalesce":
            continue
        first = node.operands[0]
        if isinstance(first, Column) and first.name in lacking:
            raise UnsupportedQuery(
                f"COALESCE or IFNULL of {first.name!r} replaces nothing: rows in which it is missing are "
                f"in no group of GROUP BY {first.name}; group by the COALESCE itself, as with GROUP BY 1, or "
                "leave it out"
            )


def _read_together(
    expression: Expression, after: PostProcessing, outputs: Sequence[QueryOutput], rows: int
) -> int:
    """Return how many intervals a calculation reads at once, if one of them is chosen for its confidence.

    A window over m groups reads the intervals of its outputs m times.
    """
    read = columns_of(expression)
    windows = [window for window in after.windows if window.name in read]
    seen = read.union(*(window.reads for window in windows))
    if not any(isinstance(output, ChoiceOutput) for output in outputs if output.name in seen):
        return 1
    direct = sum(output.name in read for output in outputs) + len(windows)
    within = [sum(output.name in window.reads for output in outputs) * rows for window in windows]
    return max(direct, 1) * max([1, *within])


def _keys(
    name: str, grouped: Columns, columns: Columns, persons: Collection[str], own: Mapping[str, str]
) -> Keys:
    column_type(name, types_of(columns))
    known = grouped[name].keys
    if known is None:
        raise missing_keys(name, columns, persons, own.get(name))
    return known


def own_columns(relation: Relation, tables: Mapping[str, Table]) -> dict[str, str]:
    """Return the private table of every column for which a declaration would help."""
    while isinstance(relation, Filter):
        relation = relation.source
    if not isinstance(relation, Source):
        return {}
    return dict.fromkeys(tables[relation.table].schema, relation.table)
