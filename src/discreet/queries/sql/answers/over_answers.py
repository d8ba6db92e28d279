"""SELECT over tables of answers: conditions, calculations, aggregates of released values, order and limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.data import Aggregate, literal
from discreet.data.facts.conditions.key_narrowing import replaced
from discreet.data.language.expressions import Call, Case, Column, Compare, Comparison, Expression
from discreet.data.language.relations import Order
from discreet.queries.question.answer_relations import AnswerRelation, Cut, Kept, Regrouped
from discreet.queries.question.post_processing import PostProcessing
from discreet.queries.sql.answers.answer_scope import AnswerScope, StatementTables
from discreet.queries.sql.answers.answer_types import check_aggregate_of_answer
from discreet.queries.sql.columns.post_processing import limits_of_answer, position_of
from discreet.queries.sql.formulas.aggregates import is_aggregate
from discreet.queries.sql.formulas.expressions import condition_of, expression_of, unwrapped
from discreet.queries.sql.rows.windows import order_of
from discreet.queries.sql.select import ReadSelect, aggregates_in
from discreet.queries.sql.syntax.names import same
from discreet.queries.sql.syntax.refusals import check_parts, refused, refused_node
from discreet.queries.sql.tables.scope import ColumnsInSight, Field, is_quoted
from discreet.records import dataclass

__all__ = ["Scalars", "cut", "finished", "is_aggregated", "order_over_answers", "select_over_answers"]

_PARTS = (
    *("expressions", "from", "joins", "where", "group", "having", "distinct", "order", "limit", "offset"),
    *("with", "hint"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalars:
    """The scalar subqueries of a SELECT, by the columns that stand for them.

    Attributes
    ----------
    below : mapping
        Those in WHERE and, where nothing is aggregated, in all clauses.
    above : mapping
        Those beside aggregates.
    """

    below: Mapping[str, AnswerScope]
    above: Mapping[str, AnswerScope]


def select_over_answers(
    select: exp.Select, scope: AnswerScope, statement: StatementTables, scalars: Scalars
) -> AnswerScope:
    """Return the table that a SELECT over answers gives, or refuse it.

    Parameters
    ----------
    select : sqlglot Select
        With placeholders for its scalar subqueries.
    scope : AnswerScope
        The rows of its FROM.
    statement : StatementTables
        What is known of the statement.
    scalars : Scalars
        What the placeholders stand for.
    """
    check_parts(select, *_PARTS)
    relation = statement.with_scalars(scope.relation, {**scalars.below, **scalars.above})
    scope = AnswerScope(relation=relation, fields=scope.fields, single=scope.single)
    where = select.args.get("where")
    if where is not None:
        condition = condition_of(where.this, statement.over(scope))
        scope = AnswerScope(
            relation=Kept(source=relation, condition=condition), fields=scope.fields, single=False
        )
    if is_aggregated(select):
        found = _aggregated(select, scope, statement, scalars)
    else:
        found = _selected(select, scope, statement)
    statement.schema(found.relation)
    return found


def is_aggregated(select: exp.Select) -> bool:
    """Return whether a SELECT aggregates rows."""
    if select.args.get("group") or select.args.get("having"):
        return True
    clauses = [*select.expressions, *([select.args["order"]] if select.args.get("order") else [])]
    return any(
        is_aggregate(node) and node.find_ancestor(exp.Select) is select
        for clause in clauses
        for node in clause.walk()
    )


def _aggregated(
    select: exp.Select, scope: AnswerScope, statement: StatementTables, scalars: Scalars
) -> AnswerScope:
    if select.args.get("distinct"):
        raise refused_node(select.args["distinct"])
    read = aggregates_in(select, scope, statement.over(scope))
    relation = scope.relation
    columns: dict[str, str] = {}
    for key in read.keys:
        relation, column = statement.calculated(relation, key.expression, key.name)
        columns[key.name] = column
    aggregates: list[tuple[str, Aggregate]] = []
    for name, aggregate in read.outputs:
        check_aggregate_of_answer(aggregate.function)
        operands: list[Expression] = []
        for operand in aggregate.operands:
            relation, column = statement.calculated(relation, operand, name)
            operands.append(Column(name=column))
        columns[name] = statement.fresh(name)
        aggregates.append((columns[name], aggregate.of(*operands)))
    keys = tuple(dict.fromkeys(columns[key.name] for key in read.keys))
    relation = Regrouped(source=relation, keys=keys, columns=tuple(aggregates))
    relation = statement.with_scalars(relation, scalars.above)
    single = not read.keys and read.after.having is None
    return finished(read, columns, relation, statement, single=single)


def finished(
    read: ReadSelect,
    columns: Mapping[str, str],
    relation: AnswerRelation,
    statement: StatementTables,
    *,
    single: bool,
) -> AnswerScope:
    """Return a table of groups with all that follows: calculations, HAVING, ORDER BY, LIMIT.

    Parameters
    ----------
    read : ReadSelect
        What SELECT says.
    columns : mapping
        The column that each key and each aggregate is.
    relation : AnswerRelation
        The groups.
    statement : StatementTables
        What is known of the statement.
    single : bool
        Whether there is one row.
    """
    after, named = read.after, dict(columns)
    if after.windows or after.qualify is not None or after.levels:
        raise refused(
            "a window, QUALIFY or ROLLUP in a statement of several answers",
            "ask for it by itself, or calculate it from the answer, which costs nothing",
        )
    values: dict[Expression, Expression] = {
        Column(name=name): Column(name=column) for name, column in columns.items()
    }
    for one in after.calculated:
        expression = replaced(one.expression, values)
        relation, named[one.name] = statement.calculated(relation, expression, one.name)
    values |= {Column(name=name): Column(name=column) for name, column in named.items()}
    if after.having is not None:
        relation = Kept(source=relation, condition=replaced(after.having, values))
    if after.present is not None:
        present = Compare(
            operator=Comparison.GREATER, left=Column(name=named[after.present]), right=literal(0)
        )
        relation = Kept(source=relation, condition=present)
    order = tuple(replace(part, column=named[part.column]) for part in after.order)
    relation, single = cut(relation, order, after, single=single)
    fields = tuple(Field(table="", name=name, column=named[name]) for name in read.names)
    return AnswerScope(relation=relation, fields=fields, single=single)


def cut(
    relation: AnswerRelation, order: tuple[Order, ...], after: PostProcessing, *, single: bool
) -> tuple[AnswerRelation, bool]:
    """Return a relation in order, with at most as many rows as LIMIT says, and whether it has one."""
    if not order and after.limit is None and not after.offset:
        return relation, single
    cut = Cut(source=relation, order=order, limit=after.limit, offset=after.offset)
    return cut, after.limit == 1 and not after.offset


def _selected(select: exp.Select, scope: AnswerScope, statement: StatementTables) -> AnswerScope:
    """Return the columns of a SELECT without aggregates."""
    relation, columns = scope.relation, statement.over(scope)
    fields: list[Field] = []
    for item in select.expressions:
        node, alias = _item(item)
        if isinstance(node, exp.Star):
            check_parts(node)
            fields += [Field(table="", name=one.name, column=one.column) for one in scope.starred()]
        elif type(node) is exp.Column and isinstance(node.this, exp.Star):
            listed = scope.of_table(node.args["table"])
            fields += [Field(table="", name=one.name, column=one.column) for one in listed]
        elif type(node) is exp.Column:
            field = scope.field(node)
            fields.append(Field(table="", name=alias or field.name, column=field.column))
        else:
            expression = expression_of(node, columns)
            name = alias or _default(expression, fields)
            relation, column = statement.calculated(relation, expression, name)
            fields.append(Field(table="", name=name, column=column))
    if select.args.get("distinct"):
        check_parts(select.args["distinct"])
        relation = Regrouped(source=relation, keys=tuple(dict.fromkeys(field.column for field in fields)))
        scope = AnswerScope(relation=relation, fields=tuple(fields))
    after = limits_of_answer(select)
    order, relation = order_over_answers(select, scope, fields, relation, statement)
    relation, single = cut(relation, order, after, single=scope.single)
    return AnswerScope(relation=relation, fields=tuple(fields), single=single)


def order_over_answers(
    node: exp.Expression,
    scope: AnswerScope,
    fields: Sequence[Field],
    relation: AnswerRelation,
    statement: StatementTables,
) -> tuple[tuple[Order, ...], AnswerRelation]:
    """Return the columns that ORDER BY names: of SELECT first, then of FROM, or calculated."""
    clause = node.args.get("order")
    if clause is None:
        return (), relation
    check_parts(clause, "expressions")
    shown = AnswerScope(relation=relation, fields=tuple(fields))
    columns = ColumnsInSight(scope=scope, schema=lambda: statement.schema(relation))

    def column(node: exp.Column) -> Column:
        named = node.args.get("table") is None and isinstance(node.this, exp.Identifier)
        if named and any(
            same(node.name, quoted=is_quoted(node.this), other=field.name) for field in shown.fields
        ):
            return shown.column(node)
        return columns(node)

    orders = []
    for part in clause.expressions:
        descending, by = order_of(part), unwrapped(part.this)
        if isinstance(by, exp.Literal):
            name = fields[position_of(by, len(fields), "ORDER BY")].column
        else:
            relation, name = statement.calculated(relation, expression_of(by, column), "order")
        orders.append(Order(column=name, descending=descending))
    return tuple(orders), relation


def _default(expression: Expression, fields: list[Field]) -> str:
    name = expression.function.name if isinstance(expression, Call) else "calculated"
    name = "case" if isinstance(expression, Case) else name
    taken, free, number = {field.name.lower() for field in fields}, name, 1
    while free.lower() in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _item(node: exp.Expression) -> tuple[exp.Expression, str | None]:
    if isinstance(node, exp.Alias):
        check_parts(node, "this", "alias")
        return unwrapped(node.this), str(node.alias)
    return unwrapped(node), None
