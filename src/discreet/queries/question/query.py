"""A query: what an analyst asks, by names alone, before bounds are looked up and a budget is offered.

SQL and dataframes both end here, so that the same question asked in either way is the same record.

>>> from discreet.data import Source, count
>>> Query(relation=Source(table="visits"), keys=(key_of("city"),), outputs=(("n", count()),))
Query(source visits; by city; n: count)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NoReturn

from discreet.data import Aggregate, Filter, Formula, Keys, Relation
from discreet.data.facts.conditions.group_keys import facts_of_keys
from discreet.data.facts.persons import Tables
from discreet.data.facts.question_tables import found_once
from discreet.data.language.column_facts import Columns
from discreet.data.language.description import describe_expression, describe_relation
from discreet.data.language.expressions import And, Column, Expression, columns_of
from discreet.data.language.formulas.other_libraries import ANSWER, unknown_word
from discreet.data.language.relations import Derive, Named, Order, Source, Union, leftmost, walk_relation
from discreet.errors import UnsupportedQuery
from discreet.queries.question.answer_levels import check_levels
from discreet.queries.question.post_processing import NO_POST_PROCESSING, PostProcessing, check_after
from discreet.records import dataclass

__all__ = ["Query", "derived", "filtered", "key_facts", "key_of", "orders", "united"]

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Query:
    """Aggregates of the rows of a relation, for every combination of keys.

    Attributes
    ----------
    relation : Relation
        Which rows: a table, filtered or not.
    keys : tuple of Named
        What to group by: columns or calculations, each under the name it has in the answer. The groups come
        in the order of their keys' values, the last key fastest.
    outputs : tuple of (name, Aggregate)
        What to compute for every group. An aggregate is taken of columns or calculations, or counts rows.
    after : After
        What is done with the finished answer, by its released values.
    listed : tuple of (name, Keys)
        Keys that come with the request, for columns with undeclared keys.
    given : tuple of str
        Columns of other answers of the same statement, which `after` reads, too.
    selected : tuple of str
        The keys and outputs that the answer shows, in order; without any, all keys and then all outputs. It
        is no part of what is asked: the same question in another order is the same.
    """

    relation: Relation
    keys: tuple[Named, ...] = ()
    outputs: tuple[tuple[str, Aggregate], ...]
    after: PostProcessing = NO_POST_PROCESSING
    listed: tuple[tuple[str, Keys], ...] = ()
    given: tuple[str, ...] = ()
    selected: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.outputs:
            raise UnsupportedQuery(
                "the request has no aggregate; ask for COUNT(*), SUM(x), MEDIAN(x) or another"
            )
        if len({key.expression for key in self.keys}) != len(self.keys):
            raise UnsupportedQuery("a column is grouped by twice; list it once")
        taken: set[str] = set()
        for name in self._all_names:
            _check_name(name)
            if name.lower() in taken:
                raise UnsupportedQuery(
                    "two columns of the answer would have the same name, apart from case; "
                    "give the aggregates different names with AS"
                )
            taken.add(name.lower())
        check_after(self.after, (*self._all_names, *self.given))
        check_levels(self.after.levels, [key.name for key in self.keys])

    def derive(self, **formulas: Formula) -> Query:
        """Return the query with columns that are calculated from its answer, by the names that this has.

        Calculations are with released values, and cost nothing; their intervals cover.
        """
        if not all(isinstance(formula, Formula) for formula in formulas.values()):
            raise UnsupportedQuery("derive takes formulas; write one such as ratio=col('total') / col('n')")
        added = tuple(Named(name=name, expression=one.expression) for name, one in formulas.items())
        return replace(self, after=replace(self.after, calculated=(*self.after.calculated, *added)))

    def select(self, *names: str) -> Query:
        """Return the query with only these outputs and calculated columns shown, in this order."""
        if not names:
            raise UnsupportedQuery("select names no column; write one such as select('n')")
        return replace(self, after=replace(self.after, shown=names))

    def showing_all(self) -> Query:
        """Return the query with all outputs and calculated columns shown."""
        return replace(self, after=replace(self.after, shown=None))

    def having(self, *conditions: Formula) -> Query:
        """Return the query with groups dropped from its answer for which a condition is not TRUE.

        Conditions are about released values, by the names they have in the answer. This costs nothing.
        """
        having = self.after.having
        if self.after.limit is not None or self.after.offset:
            raise UnsupportedQuery(
                "having is called after head, which would then keep other groups; call having first"
            )
        for condition in conditions:
            if not isinstance(condition, Formula):
                raise UnsupportedQuery("having takes conditions; write one such as col('n') > 10")
            one = condition.expression
            having = one if having is None else And(operands=(having, one))
        return replace(self, after=replace(self.after, having=having))

    def sort_by(self, *names: str, descending: bool | Sequence[bool] = False) -> Query:
        """Return the query with its answer sorted by released values; missing ones come last."""
        if self.after.limit is not None or self.after.offset:
            raise UnsupportedQuery(
                "sort_by is called after head, which would then keep other groups; call sort_by first"
            )
        return replace(self, after=replace(self.after, order=orders(names, descending)))

    def head(self, n: int, *, offset: int = 0) -> Query:
        """Return the query with only the first groups of its answer, after `offset` others."""
        if self.after.limit is not None or self.after.offset:
            raise UnsupportedQuery("head is called twice; call it once, with the smaller number")
        return replace(self, after=replace(self.after, limit=n, offset=offset))

    def with_keys(self, **keys: Keys | Iterable[object]) -> Query:
        """Return the query with the values to group by, for keys that were never declared.

        They must be known without looking at the data. If keys are declared, fewer may be
        listed here.
        """
        names = {key.name for key in self.keys}
        for name in keys:
            if name not in names:
                raise UnsupportedQuery("keys are listed for what is not grouped by; list them for a key")
        listed = dict(self.listed) | {
            name: values if isinstance(values, Keys) else Keys(values) for name, values in keys.items()
        }
        return replace(self, listed=tuple(listed.items()))

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the columns that the answer shows after the keys."""
        after = self.after
        return (*self.names, *(one.name for one in after.calculated)) if after.shown is None else after.shown

    @property
    def _all_names(self) -> tuple[str, ...]:
        calculated = (one.name for one in self.after.calculated)
        return (*(key.name for key in self.keys), *self.names, *calculated)

    @property
    def table(self) -> str:
        """The name of the table that is read."""
        return leftmost(self.relation).table

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(name for name, _ in self.outputs)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_word(ANSWER, name)

    def __repr__(self) -> str:
        return f"Query({'; '.join(self._words())})"

    def _words(self) -> Iterator[str]:
        yield f"source {self.table}"
        for node in walk_relation(self.relation):
            if isinstance(node, Filter):
                yield f"where {describe_expression(node.condition)}"
            elif not isinstance(node, Source):
                yield describe_relation(node)
        if self.keys:
            yield f"by {', '.join(key.name for key in self.keys)}"
        for name, aggregate in self.outputs:
            yield f"{name}: {aggregate.described}"
        for one in self.after.calculated:
            yield f"{one.name}: {describe_expression(one.expression)}"


def key_of(column: str) -> Named:
    """Return a column as a key."""
    return Named(name=column, expression=Column(name=column))


def filtered(relation: Relation, condition: Expression) -> Relation:
    """Return the rows for which a condition is TRUE; conditions on top of each other become one AND.

    A row passes two filters exactly if both conditions are TRUE, which is when their AND is.
    """
    if isinstance(relation, Filter):
        return Filter(source=relation.source, condition=And(operands=(relation.condition, condition)))
    return Filter(source=relation, condition=condition)


def derived(relation: Relation, columns: tuple[Named, ...]) -> Relation:
    """Return the rows with columns added; without any, as they are.

    Columns on top of columns that they do not read are one step.
    """
    if not columns:
        return relation
    if isinstance(relation, Derive):
        before = {column.name for column in relation.columns}
        read = frozenset[str]().union(*(columns_of(column.expression) for column in columns))
        if not before & (read | {column.name for column in columns}):
            return Derive(source=relation.source, columns=(*relation.columns, *columns))
    return Derive(source=relation, columns=columns)


def orders(names: Sequence[str], descending: bool | Sequence[bool]) -> tuple[Order, ...]:
    """Return columns to order by; `descending` is one for all, or one for each."""
    directions = [descending] * len(names) if isinstance(descending, bool) else list(descending)
    if not names or len(directions) != len(names):
        raise UnsupportedQuery(
            "sort_by names no column, or does not give one direction for each; write sort_by('n')"
        )
    return tuple(
        Order(column=name, descending=direction) for name, direction in zip(names, directions, strict=True)
    )


def united(relations: Iterable[Relation]) -> Relation:
    """Return the rows of several relations; a union of unions is one union."""
    parts: list[Relation] = []
    for relation in relations:
        parts.extend(relation.sources if isinstance(relation, Union) else (relation,))
    return Union(sources=tuple(parts))


def _check_name(name: object) -> None:
    allowed = f"a name is text of 1 to {_LONGEST_NAME} characters"
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME:
        raise UnsupportedQuery(f"the name of an output is missing or too long; {allowed}")
    try:
        name.encode("utf-8")
        encodable = "\0" not in name
    except UnicodeEncodeError:
        encodable = False
    if not encodable:
        raise UnsupportedQuery(f"the name of an output contains a NUL or an incomplete character; {allowed}")


@found_once
def key_facts(query: Query, tables: Tables) -> Columns:
    """Return what is public about the keys of a query, by their names."""
    return facts_of_keys(query.relation, query.keys, dict(query.listed), tables)
