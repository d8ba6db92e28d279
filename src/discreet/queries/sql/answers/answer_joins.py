"""FROM and JOIN over tables of answers and public tables.

Answers meet by columns that no noise enters: keys, and columns of public tables. Equalities of these in ON,
USING, NATURAL and, of inner joins, in WHERE say which rows meet; further conditions of an inner join are
conditions on the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.data.language.expressions import Case, Column, Expression, IsNull, When
from discreet.data.language.relations import Named
from discreet.errors import UnsupportedQuery
from discreet.queries.question.answer_relations import Extended, Joined, Kept, OneRow, Paired
from discreet.queries.sql.answers.answer_scope import AnswerScope, StatementTables
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.syntax.names import same
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.joins import conjuncts
from discreet.queries.sql.tables.scope import Field, is_quoted

__all__ = ["AnswerJoins"]

AnswerItemReader = Callable[[exp.Expression], AnswerScope]
PairCondition = Callable[[exp.Expression, AnswerScope], Expression]
_OUTER = (
    "an outer JOIN of answers by other conditions than equal keys",
    "put the condition into a subquery with WHERE, or write JOIN",
)


class AnswerJoins:
    """Reads FROM over answers.

    Parameters
    ----------
    statement : StatementTables
        What is known of the statement.
    item : callable
        Reads a table or a subquery of FROM.
    condition : callable
        Reads a condition over columns in sight.
    """

    def __init__(self, statement: StatementTables, item: AnswerItemReader, condition: PairCondition) -> None:
        self._statement, self._item, self._condition = statement, item, condition

    def of(self, select: exp.Select) -> AnswerScope:
        """Return the rows of FROM; one row without columns, if there is none."""
        clause = select.args.get("from_") or select.args.get("from")
        if clause is None:
            return AnswerScope(relation=OneRow(), fields=(), single=True)
        check_parts(clause, "this")
        where = select.args.get("where")
        said = [] if where is None else list(conjuncts(where.this))
        return self._steps(clause.this, select.args.get("joins") or (), said)

    def _steps(
        self, first: exp.Expression, joins: Sequence[exp.Join], said: Sequence[exp.Expression]
    ) -> AnswerScope:
        scope = self._operand(first, said)
        for join in joins:
            scope = self._joined(scope, join, said)
        return scope

    def _operand(self, node: exp.Expression, said: Sequence[exp.Expression]) -> AnswerScope:
        joins = node.args.get("joins") or ()
        if joins:
            bare = node.copy()
            bare.set("joins", None)
            return self._steps(bare, joins, said)
        if type(node) is exp.Paren or (
            type(node) is exp.Subquery and isinstance(node.this, exp.Table | exp.Subquery)
        ):
            if node.args.get("alias"):
                raise refused("a name for a JOIN of answers", "name the tables inside the parentheses")
            return self._operand(node.this, said)
        return self._item(node)

    def _joined(self, one: AnswerScope, join: exp.Join, said: Sequence[exp.Expression]) -> AnswerScope:
        check_parts(join, "this", "on", "using", "side", "kind", "method")
        side, kind = (str(join.args.get(part) or "").upper() for part in ("side", "kind"))
        if kind not in {"", "INNER", "CROSS", "OUTER"} or side not in {"", "LEFT", "RIGHT", "FULL"}:
            raise refused("a SEMI or ANTI JOIN of answers", "write JOIN, or LEFT JOIN and IS NULL")
        other = self._operand(join.this, said)
        names = {field.table.lower() for field in one.fields if field.table}
        if names & {field.table.lower() for field in other.fields}:
            raise UnsupportedQuery(
                "two tables in FROM have the same name; give them aliases, as in FROM a JOIN a AS b"
            )
        if join.args.get("using") or str(join.args.get("method") or "").upper() == "NATURAL":
            return self._by_names(one, other, join, side)
        on = join.args.get("on")
        written = [] if on is None else list(conjuncts(on))
        pairs, rest = self._pairs(one, other, written)
        outer = side in {"LEFT", "RIGHT", "FULL"}
        if outer and (rest or not pairs):
            raise refused(*_OUTER)
        if not outer:
            pairs += self._pairs(one, other, said)[0]
        joined = self._of(one, other, pairs, side, (*one.fields, *other.fields))
        for condition in rest:
            joined = replace(
                joined, relation=Kept(source=joined.relation, condition=self._condition(condition, joined))
            )
        return joined

    def _of(
        self,
        one: AnswerScope,
        other: AnswerScope,
        pairs: Iterable[Paired],
        side: str,
        fields: tuple[Field, ...],
    ) -> AnswerScope:
        relation = Joined(
            one=one.relation,
            other=other.relation,
            on=tuple(dict.fromkeys(pairs)),
            left=side in {"LEFT", "FULL"},
            right=side in {"RIGHT", "FULL"},
        )
        return AnswerScope(relation=relation, fields=fields, single=one.single and other.single and not pairs)

    def _by_names(self, one: AnswerScope, other: AnswerScope, join: exp.Join, side: str) -> AnswerScope:
        """Return a join by columns of the same name, which become one column."""
        using = join.args.get("using")
        names = (
            [exp.to_identifier(node.name, quoted=is_quoted(node)) for node in map(_identifier, using)]
            if using
            else [
                exp.to_identifier(field.name, quoted=True)
                for field in other.starred()
                if any(same(field.name, quoted=False, other=mine.name) for mine in one.starred())
            ]
        )
        if not names:
            raise refused("a NATURAL JOIN without a common column", "write ON or USING")
        fields: list[Field] = [*one.fields, *other.fields]
        pairs, merged = [], []
        for name in names:
            left, right = one.field(exp.Column(this=name)), other.field(exp.Column(this=name))
            self._check_public(left.column, right.column)
            pairs.append(Paired(left=left.column, right=right.column))
            merged.append((left, right))
        joined = self._of(one, other, pairs, side, tuple(fields))
        relation = joined.relation
        for left, right in merged:
            kept, column = (right, right.column) if side == "RIGHT" else (left, left.column)
            if side == "FULL":
                column = self._statement.fresh(left.name, public=True, key=True)
                both = Named(name=column, expression=_either(left.column, right.column))
                relation = Extended(source=relation, columns=(both,))
                fields.append(Field(table="", name=left.name, column=column))
                kept = fields[-1]
            fields = [
                replace(field, qualified=True)
                if field.column in {left.column, right.column} and field is not kept
                else field
                for field in fields
            ]
        return AnswerScope(relation=relation, fields=tuple(fields), single=False)

    def _pairs(
        self, one: AnswerScope, other: AnswerScope, written: Iterable[exp.Expression]
    ) -> tuple[list[Paired], list[exp.Expression]]:
        """Return the equalities of public columns of both sides, and what else is said."""
        pairs, rest = [], []
        for node in written:
            pair = self._pair(one, other, node)
            if pair is None:
                rest.append(node)
            else:
                pairs.append(pair)
        return pairs, rest

    def _pair(self, one: AnswerScope, other: AnswerScope, node: exp.Expression) -> Paired | None:
        if type(node) is not exp.EQ:
            return None
        sides = [unwrapped(node.this), unwrapped(node.expression)]
        for left, right in (sides, sides[::-1]):
            if type(left) is not exp.Column or type(right) is not exp.Column:
                return None
            if one.has(left) and other.has(right) and not (one.has(right) or other.has(left)):
                columns = one.field(left).column, other.field(right).column
                if all(map(self._statement.is_public, columns)):
                    return Paired(left=columns[0], right=columns[1])
        return None

    def _check_public(self, *columns: str) -> None:
        if not all(map(self._statement.is_public, columns)):
            raise refused("a JOIN of answers by released numbers", "join them by their keys")


def _either(one: str, other: str) -> Expression:
    """Return the first column, or the other where that is missing."""
    missing = When(condition=IsNull(operand=Column(name=one)), value=Column(name=other))
    return Case(branches=(missing,), otherwise=Column(name=one))


def _identifier(node: exp.Expression) -> exp.Identifier:
    found = node.this if isinstance(node, exp.Column) else node
    if not isinstance(found, exp.Identifier):
        raise refused("USING with something else than names", "write USING (city)")
    return found
