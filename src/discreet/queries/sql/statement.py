"""A statement of SQL: one measured question, or several and what is calculated from their answers.

A subquery, a query of WITH or an operand of UNION is one of three things.

- *Rows*: every row is the work of one person. It belongs to the question around it (`subqueries`).
- *Public rows*: only public tables are read.
- *An answer*: an aggregate over several persons. It is measured as if it were asked by itself, and what is
  around it reads the released table: SELECT, joins with other answers and public tables by keys, aggregates
  of released numbers (`over_answers`), UNION, INTERSECT and EXCEPT; or it is a scalar, one released number
  in an expression.

All measured questions of a statement are paid for together. A question that reads private rows cannot depend
on an answer of the same statement: its charge would come before that answer is known.
"""

from __future__ import annotations

import datetime
from dataclasses import replace

from sqlglot import exp

from discreet.data.facts.persons import Tables
from discreet.errors import RequestRefused, UnsupportedQuery
from discreet.queries.question.answer_relations import Combination, Combined, Picked
from discreet.queries.question.pruning import pruned
from discreet.queries.question.query import Query
from discreet.queries.question.statement import Statement
from discreet.queries.sql.answers.answer_joins import AnswerJoins
from discreet.queries.sql.answers.answer_scope import AnswerScope, StatementTables, placeholder
from discreet.queries.sql.answers.over_answers import (
    Scalars,
    cut,
    finished,
    is_aggregated,
    order_over_answers,
    select_over_answers,
)
from discreet.queries.sql.columns.post_processing import limits_of_answer
from discreet.queries.sql.formulas.expressions import condition_of
from discreet.queries.sql.merged_answers import merged_windows
from discreet.queries.sql.rows.from_clause import FromClause
from discreet.queries.sql.rows.public_scalars import with_constants
from discreet.queries.sql.rows.subqueries import subquery
from discreet.queries.sql.select import ReadSelect, query_of
from discreet.queries.sql.statement_parts import (
    ASK_FIRST,
    WithQueries,
    has_no_from,
    is_beside_aggregates,
    is_scalar_of,
    items_of_from,
    named_query,
    without_joins,
)
from discreet.queries.sql.syntax.names import check_schemas
from discreet.queries.sql.syntax.parser import read_select, read_statement
from discreet.queries.sql.syntax.refusals import AcrossPersons, check_parts, refused, refused_node
from discreet.queries.sql.tables.joins import PublicItem
from discreet.queries.sql.tables.scope import Field, is_quoted

__all__ = ["read"]

_CORRELATED = "a subquery in an expression stands for one number, whatever row it is beside"

_COMBINATIONS: dict[type[exp.Expression], tuple[Combination, Combination | None]] = {
    exp.Union: (Combination.UNION, Combination.ALL),
    exp.Intersect: (Combination.INTERSECT, None),
    exp.Except: (Combination.EXCEPT, None),
}


def read(text: str, tables: Tables, day: datetime.date | None = None) -> Query | Statement:
    """Return what a statement means, or refuse it.

    Parameters
    ----------
    text : str
        SQL.
    tables : mapping of names to Table or PublicTable
        The declared tables; only their public names and columns are used.
    day : date, optional
        What CURRENT_DATE means.
    """
    tree = read_statement(text, day)
    if tree is None or len(list(tree.find_all(exp.Select))) < 2:
        return query_of(read_select(text, day), tables)[0]
    refusal: RequestRefused | None = None
    try:
        return query_of(read_select(text, day), tables)[0]
    except RequestRefused as found:
        refusal = UnsupportedQuery(*found.args) if isinstance(found, AcrossPersons) else found
    # Outside of the handler, so that no refusal carries another one with it.
    if (merged := merged_windows(tree)) is not None:
        return query_of(merged, tables)[0]
    folded = with_constants(tree, tables)
    statement = _Reader(tables).statement(folded)
    if statement is not None:
        return statement
    if folded != tree and type(folded) is exp.Select:
        return query_of(folded, tables)[0]
    raise refusal


class _Reader:
    """Reads one statement."""

    def __init__(self, tables: Tables) -> None:
        self._tables, self._statement = tables, StatementTables(tables)
        self._read_queries: dict[int, AnswerScope | exp.CTE] = {}

    def statement(self, tree: exp.Expression) -> Statement | None:
        """Return the statement that a tree means; None if it holds no answer but the whole."""
        check_schemas(tree)
        if not self._is_answer(tree, {}) or self._is_plain(tree, {}):
            return None
        scope = self._answer(tree, {}, whole=True)
        if not self._statement.parts.parts:
            return None
        names = [field.name for field in scope.fields]
        if len({name.lower() for name in names}) != len(names):
            raise UnsupportedQuery(
                "two columns of the answer would have the same name, apart from case; give them different "
                "names with AS"
            )
        keys = [field for field in scope.fields if self._statement.is_key(field.column)]
        others = [field for field in scope.fields if not self._statement.is_key(field.column)]
        columns = tuple((field.name, field.column) for field in (*keys, *others))
        relation = Picked(source=scope.relation, columns=columns)
        self._statement.schema(relation)
        found = Statement(
            parts=self._statement.parts.parts,
            relation=relation,
            keys=tuple(field.name for field in keys),
            names=tuple(field.name for field in others),
        )
        return pruned(found)

    def _is_plain(self, tree: exp.Expression, queries: WithQueries) -> bool:
        """Return whether a tree is one question about rows, with no answer inside."""
        if type(tree) is not exp.Select:
            return False
        inner = self._within(tree, queries)
        return not self._reads_answers(tree, inner) and not self._scalar_nodes(tree, inner)

    # What a query is.

    def _is_answer(self, node: exp.Expression, queries: WithQueries) -> bool:
        """Return whether a query is an answer, rather than rows or public rows."""
        if isinstance(node, exp.Subquery):
            return self._is_answer(node.this, self._within(node, queries))
        if type(node) in _COMBINATIONS:
            inner = self._within(node, queries)
            return self._is_answer(node.this, inner) or self._is_answer(node.expression, inner)
        if type(node) is not exp.Select:
            return False
        inner = self._within(node, queries)
        if self._reads_answers(node, inner) or (has_no_from(node) and self._scalar_nodes(node, inner)):
            return True
        if has_no_from(node) or self._is_public(node, inner):
            return bool(self._scalar_nodes(node, inner))
        return self._is_across_persons(node, inner)

    def _reads_answers(self, select: exp.Select, queries: WithQueries) -> bool:
        return any(self._item_is_answer(node, queries) for node in items_of_from(select))

    def _item_is_answer(self, node: exp.Expression, queries: WithQueries) -> bool:
        if isinstance(node, exp.Table):
            return isinstance(named_query(node, queries), AnswerScope)
        return self._is_answer(node, queries)

    def _is_public(self, select: exp.Select, queries: WithQueries) -> bool:
        rows = self._rows(select, queries)
        for node in items_of_from(select):
            try:
                if not isinstance(rows.item(without_joins(node)), PublicItem):
                    return False
            except RequestRefused:
                return False
        return True

    def _is_across_persons(self, select: exp.Select, queries: WithQueries) -> bool:
        copied = select.copy()
        for node in list(copied.find_all(exp.Subquery)):
            if is_scalar_of(node, copied):
                node.replace(exp.Literal.number("0"))  # whatever it is, it is no row
        bare = self._with_rows(copied, queries)
        for part in ("order", "limit", "offset", "having"):
            bare.set(part, None)
        if select.args.get("having") and not bare.args.get("group"):
            return True
        try:
            subquery(bare, FromClause(self._tables, subquery))
        except AcrossPersons:
            return True
        except RequestRefused:
            return False
        return False

    # WITH.

    def _within(self, node: exp.Expression, queries: WithQueries) -> WithQueries:
        """Return the queries that a query can name: those around it, and those of its own WITH."""
        clause = node.args.get("with_") or node.args.get("with")
        if clause is None:
            return queries
        if clause.args.get("recursive"):
            raise refused("WITH RECURSIVE", "write WITH without RECURSIVE")
        check_parts(clause, "expressions")
        known = dict(queries)
        for query in clause.expressions:
            check_parts(query, "this", "alias", "materialized")
            alias = query.args["alias"]
            found: AnswerScope | exp.CTE = query
            if id(query) in self._read_queries:
                found = self._read_queries[id(query)]
            elif self._is_answer(query.this, known):
                check_parts(alias, "this")
                found = self._answer(query.this, known)
            self._read_queries[id(query)] = found
            known[alias.name] = (is_quoted(alias.this), found)
        return known

    def _with_rows(self, select: exp.Select, queries: WithQueries) -> exp.Select:
        """Return a copy of a SELECT over rows, with the queries of WITH that are rows."""
        copied = select.copy()
        copied.set("with_", None)
        rows = [query.copy() for _, query in queries.values() if isinstance(query, exp.CTE)]
        if rows:
            copied.set("with_", exp.With(expressions=rows))
        return copied

    def _rows(self, select: exp.Select, queries: WithQueries) -> FromClause:
        return FromClause(self._tables, subquery).within(self._with_rows(select, queries))

    # What a query that is an answer gives.

    def _answer(self, node: exp.Expression, queries: WithQueries, *, whole: bool = False) -> AnswerScope:
        if isinstance(node, exp.Subquery):
            check_parts(node, "this", "with", "alias")
            return self._answer(node.this, self._within(node, queries))
        inner = self._within(node, queries)
        if type(node) in _COMBINATIONS:
            return self._combined(node, inner)
        if type(node) is not exp.Select:
            raise refused_node(node)
        if has_no_from(node) or self._reads_answers(node, inner) or self._is_public(node, inner):
            return self._over_answers(node, inner)
        return self._measured(node, inner, whole=whole)

    def _over_answers(self, select: exp.Select, queries: WithQueries) -> AnswerScope:
        select, scalars = self._with_placeholders(select, queries)

        def item(node: exp.Expression) -> AnswerScope:
            return self._item(node, queries, select)

        joins = AnswerJoins(
            self._statement, item, lambda node, scope: condition_of(node, self._statement.over(scope))
        )
        return select_over_answers(select, joins.of(select), self._statement, scalars)

    def _item(self, node: exp.Expression, queries: WithQueries, select: exp.Select) -> AnswerScope:
        """Return a table of FROM over answers: an answer, or a public table."""
        alias = node.args.get("alias")
        if alias is not None:
            check_parts(alias, "this")
        name = "" if alias is None else str(alias.name)
        if isinstance(node, exp.Table):
            known = named_query(node, queries)
            if isinstance(known, AnswerScope):
                check_parts(node, "this", "alias", "db", "catalog")
                return self._statement.called(known, name or node.name)
        elif self._is_answer(node, queries):
            return self._statement.called(self._answer(without_joins(node), queries), name)
        found = self._rows(select, queries).item(node)
        if not isinstance(found, PublicItem):
            raise refused("a JOIN of an answer with private rows", ASK_FIRST)
        return self._statement.public_rows(found)

    def _measured(self, select: exp.Select, queries: WithQueries, *, whole: bool) -> AnswerScope:
        """Measure a SELECT over rows, and return the table that it gives."""
        for node in select.find_all(exp.Subquery):
            if is_scalar_of(node, select) and (
                not is_beside_aggregates(node, select) and self._is_answer(node, queries)
            ):
                raise refused("a subquery on private rows in WHERE, GROUP BY or an aggregate", ASK_FIRST)
        replaced, scalars = self._with_placeholders(select, queries, rows=True)
        query, names = query_of(
            self._with_rows(replaced, queries), self._tables, (*scalars.below, *scalars.above)
        )
        table, columns = self._statement.measured(query)
        relation = self._statement.with_scalars(table, {**scalars.below, **scalars.above})
        if whole:  # the answer shows all keys
            names = (*(key.name for key in query.keys if key.name not in names), *names)
        read = ReadSelect(keys=query.keys, outputs=query.outputs, after=query.after, names=names)
        given = {name: name for name in query.given}
        single = not query.keys and query.after.having is None
        return finished(read, {**columns, **given}, relation, self._statement, single=single)

    def _combined(self, node: exp.Expression, queries: WithQueries) -> AnswerScope:
        """Return what UNION, INTERSECT or EXCEPT of two answers gives."""
        check_parts(node, "this", "expression", "distinct", "with", "order", "limit", "offset")
        once, every = _COMBINATIONS[type(node)]
        kind = once if node.args.get("distinct") is not False else every
        if kind is None:
            raise refused(f"{node.key.upper()} ALL", f"write {node.key.upper()}, which shows each row once")
        sides = []
        for side in (node.this, node.expression):
            scope = self._operand(side, queries)
            picked = tuple((self._statement.like(field.name, field.column), field) for field in scope.fields)
            relation = Picked(
                source=scope.relation, columns=tuple((column, field.column) for column, field in picked)
            )
            fields = tuple(Field(table="", name=field.name, column=column) for column, field in picked)
            sides.append(AnswerScope(relation=relation, fields=fields))
        one, other = sides
        if len(one.fields) != len(other.fields):
            raise UnsupportedQuery(
                "UNION, INTERSECT or EXCEPT joins answers of different width; select as many columns in each "
                "part"
            )
        public = all(map(self._statement.is_public, (*one.columns, *other.columns)))
        if kind in {Combination.INTERSECT, Combination.EXCEPT} and not public:
            raise refused(f"{node.key.upper()} of released numbers", "select keys alone in both parts")
        fields = tuple(
            replace(field, column=self._united(field, other.columns[place]))
            for place, field in enumerate(one.fields)
        )
        united = Combined(kind=kind, one=one.relation, other=other.relation)
        renamed = tuple((field.column, column) for field, column in zip(fields, one.columns, strict=True))
        relation = Picked(source=united, columns=renamed)
        scope = AnswerScope(relation=relation, fields=fields)
        order, sorted_relation = order_over_answers(node, scope, fields, relation, self._statement)
        left, single = cut(sorted_relation, order, limits_of_answer(node), single=False)
        self._statement.schema(left)
        return AnswerScope(relation=left, fields=fields, single=single)

    def _united(self, field: Field, other: str) -> str:
        public = self._statement.is_public(field.column) and self._statement.is_public(other)
        key = self._statement.is_key(field.column) or self._statement.is_key(other)
        return self._statement.fresh(field.name, public=public, key=public and key)

    def _operand(self, node: exp.Expression, queries: WithQueries) -> AnswerScope:
        """Return an operand of UNION: an answer, or public rows."""
        if self._is_answer(node, queries):
            return self._answer(node, queries)
        bare = node.this if isinstance(node, exp.Subquery) else node
        if type(bare) is exp.Select and (has_no_from(bare) or self._is_public(bare, queries)):
            return self._over_answers(bare, self._within(bare, queries))
        raise refused("UNION of an answer with private rows", "aggregate the rows in each part")

    # Scalar subqueries.

    def _scalar_nodes(self, select: exp.Select, queries: WithQueries) -> list[exp.Subquery]:
        """Return the scalar subqueries of a SELECT that are answers."""
        return [
            node
            for node in select.find_all(exp.Subquery)
            if is_scalar_of(node, select) and self._is_answer(node, queries)
        ]

    def _with_placeholders(
        self, select: exp.Select, queries: WithQueries, *, rows: bool = False
    ) -> tuple[exp.Select, Scalars]:
        """Return a SELECT, perhaps over rows, with columns for its scalar subqueries, and what these are."""
        nodes = [node for node in select.find_all(exp.Subquery) if is_scalar_of(node, select)]
        below: dict[str, AnswerScope] = {}
        above: dict[str, AnswerScope] = {}
        known: dict[exp.Expression, str] = {}
        places: dict[int, exp.Expression] = {}
        aggregated = is_aggregated(select)
        for node in nodes:
            if self._is_answer(node, queries):
                scope = self._answer(node, queries)
            elif rows:
                continue  # about the same person's rows: it belongs to the question
            else:
                scope = self._operand_of_scalar(node, queries)
            if len(scope.fields) != 1 or not scope.single:
                raise refused(
                    "a subquery in an expression that gives several rows or columns",
                    "select one aggregate without GROUP BY, such as AVG(n), or add LIMIT 1",
                )
            if node not in known:
                known[node] = self._statement.like("scalar", scope.columns[0])
                beside = aggregated and is_beside_aggregates(node, select)
                (above if beside else below)[known[node]] = scope
            places[id(node)] = placeholder(known[node])
        copied = select.copy()
        pairs = list(zip(select.walk(), copied.walk(), strict=True))
        for original, copy in pairs:
            if id(original) in places:
                copy.replace(places[id(original)])
        return copied, Scalars(below=below, above=above)

    def _operand_of_scalar(self, node: exp.Subquery, queries: WithQueries) -> AnswerScope:
        bare = node.this
        if type(bare) is exp.Select and (has_no_from(bare) or self._is_public(bare, queries)):
            return self._over_answers(bare, self._within(bare, queries))
        raise refused("a subquery on private rows in an expression", _CORRELATED)
