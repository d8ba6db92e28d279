"""Requests that are built like a dataframe.

>>> from discreet.data import col, count
>>> visits = TableRequest(table="visits")
>>> visits.filter(col("age") < 40).group_by("city").agg(n=count(), m=col("cost").mean())
Query(source visits; where age < ?; by city; n: count; m: mean of cost)
>>> visits.per_person(k=count()).filter(col("k") > 3).agg(n=count())
Query(source visits; where k > ?; per person: count of rows as k; n: count)

Building a request uses only names: it opens no table and checks no column. The result is the same `Query`
that SQL gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from discreet.data import Aggregate, Formula, Relation, Source
from discreet.data.language.expressions import Column
from discreet.data.language.formulas.other_libraries import GROUPS, ROWS, unknown_word
from discreet.data.language.relations import (
    Distinct,
    Equality,
    JoinPersons,
    JoinPublic,
    Named,
    Project,
    Window,
    WindowFunction,
)
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.queries.question.per_person import per_person_of
from discreet.queries.question.query import Query, derived, filtered, key_of, orders, united
from discreet.records import dataclass

__all__ = ["GroupedRequest", "TableRequest"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupedRequest:
    """Rows of a table in groups; `agg` says what to compute for each group."""

    relation: Relation
    keys: tuple[Named, ...]

    def agg(self, **aggregates: Aggregate) -> Query:
        """Return the query for some aggregates, by the names they will have in the answer.

        Parameters
        ----------
        **aggregates : Aggregate
            Such as ``n=count()`` or ``mean_cost=col("cost").mean()``.
        """
        for aggregate in aggregates.values():
            if not isinstance(aggregate, Aggregate):
                raise UnsupportedQuery(
                    "agg takes aggregates; write count(), col('x').count(), col('x').sum() or col('x').mean()"
                )
        return Query(relation=self.relation, keys=self.keys, outputs=tuple(aggregates.items()))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_word(GROUPS, name)

    def __repr__(self) -> str:
        return f"GroupedRequest(by {', '.join(key.name for key in self.keys) or 'nothing'})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableRequest:
    """The rows of a table, by its name, perhaps filtered, joined or aggregated per person.

    Parameters
    ----------
    table : str
        The public name of the table.
    """

    table: str
    relation: Relation | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.table, str) or not self.table:
            raise ParameterError("table", "is not a table name", "text such as 'visits'")

    def filter(self, *conditions: Formula) -> TableRequest:
        """Return the rows for which every condition is TRUE; FALSE and NULL leave a row out."""
        relation = self._rows()
        for condition in conditions:
            if not isinstance(condition, Formula):
                raise UnsupportedQuery("filter takes conditions; write one such as col('age') < 40")
            relation = filtered(relation, condition.expression)
        return self._with(relation)

    def derive(self, **formulas: Formula) -> TableRequest:
        """Return the rows with calculated columns added; one of the same name is replaced."""
        return self._with(derived(self._rows(), _calculated(formulas)))

    def select(self, *columns: str | Formula, **formulas: Formula) -> TableRequest:
        """Return the rows with these columns instead of their own."""
        chosen = tuple(_key(column) for column in columns)
        return self._with(Project(source=self._rows(), columns=(*chosen, *_calculated(formulas))))

    def join(
        self,
        other: str | TableRequest,
        on: str | Sequence[str] | Mapping[str, str] = (),
        *,
        how: str = "inner",
        columns: Sequence[str] | Mapping[str, str] | None = None,
    ) -> TableRequest:
        """Return every row joined with the rows of something else that match it.

        Parameters
        ----------
        other : str or TableRequest
            The name of a public table; or private rows, of which those of the same person are meant.
        on : name, names, or mapping of names here to names there
            The columns that are equal: of a public table at least one, of private rows those besides the
            person.
        how : "inner" or "left"
            Whether a row without a match stays, with missing values in the other columns.
        columns : names, or mapping of new names to names there, optional
            Which columns are added; by default all but the person and those of `on`.
        """
        if how not in {"inner", "left"}:
            raise UnsupportedQuery("a join has an unknown kind; write how='inner' or how='left'")
        equal = _equalities([on] if isinstance(on, str) else on)
        added = None if columns is None else _equalities(columns)
        if isinstance(other, TableRequest):
            return self._with(
                JoinPersons(
                    left=self._rows(), right=other._rows(), on=equal, columns=added, outer=how == "left"
                )
            )
        if not isinstance(other, str) or not equal:
            raise UnsupportedQuery(
                "a join needs the name of a public table and the columns that are equal, or private rows; "
                "write join('cities', on='city') or join(visits)"
            )
        return self._with(
            JoinPublic(source=self._rows(), table=other, on=equal, columns=added, outer=how == "left")
        )

    def union(self, *others: TableRequest) -> TableRequest:
        """Return the rows of this and of others, whose columns have the same names and types."""
        if not others or not all(isinstance(other, TableRequest) for other in others):
            raise UnsupportedQuery("union takes other rows; write one such as union(visits)")
        return self._with(united(one._rows() for one in (self, *others)))

    def distinct(self) -> TableRequest:
        """Return the distinct rows of each person."""
        return self._with(Distinct(source=self._rows()))

    def per_person(self, *keys: str, **aggregates: Aggregate) -> TableRequest:
        """Return one row for each person and combination of keys, with aggregates of that person's rows.

        Parameters
        ----------
        *keys : str
            Columns; without any there is one row for each person.
        **aggregates : Aggregate
            ``count()``, or the count, count_distinct, sum, mean, min or max of a formula.
        """
        names = tuple(_key(key).name for key in keys)
        return self._with(per_person_of(self._rows(), names, aggregates))

    def number(
        self,
        order_by: str | Sequence[str],
        *,
        descending: bool | Sequence[bool] = False,
        within: str | Sequence[str] = (),
        name: str = "number",
    ) -> TableRequest:
        """Return the rows with a column that numbers those of each person: 1, 2, 3, ….

        Parameters
        ----------
        order_by : name or names
            The order; ties are ordered by all columns. Missing values come last.
        descending : bool, or one for each name
            Whether it descends.
        within : name or names
            Further columns within whose values rows are numbered again.
        name : str
            The name of the column.
        """
        return self._with(
            Window(
                source=self._rows(),
                name=name,
                function=WindowFunction.ROW_NUMBER,
                partition=_names(within),
                order=orders(_names(order_by), descending),
            )
        )

    def group_by(self, *keys: str | Formula, **formulas: Formula) -> GroupedRequest:
        """Return the rows in groups, one for every combination of declared or implied keys."""
        listed = (*(_key(key) for key in keys), *_calculated(formulas))
        return GroupedRequest(relation=self._rows(), keys=listed)

    def agg(self, **aggregates: Aggregate) -> Query:
        """Return the query for some aggregates of all rows together."""
        return self.group_by().agg(**aggregates)

    def __getitem__(self, name: object) -> NoReturn:
        """Refuse to be a frame: rows are never read one by one, and a column has a name only."""
        raise UnsupportedQuery(
            "rows of a table are not read by [ ]; write filter(col('cost') > 100) for some of them, "
            "and col('cost') for a column"
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_word(ROWS, name)

    def __repr__(self) -> str:
        return f"TableRequest({self.table}{'' if self.relation is None else ', changed'})"

    def _rows(self) -> Relation:
        return Source(table=self.table) if self.relation is None else self.relation

    def _with(self, relation: Relation) -> TableRequest:
        return TableRequest(table=self.table, relation=relation)


def _key(key: str | Formula) -> Named:
    if isinstance(key, Formula) and isinstance(key.expression, Column):
        return key_of(key.expression.name)
    if isinstance(key, str) and key:
        return key_of(key)
    raise UnsupportedQuery(
        "a column is neither a name nor a formula with a name; write one such as 'city' or "
        "decade=col('age') / 10"
    )


def _calculated(formulas: Mapping[str, Formula]) -> tuple[Named, ...]:
    for formula in formulas.values():
        if not isinstance(formula, Formula):
            raise UnsupportedQuery(
                "a calculated column is not a formula; write one such as double=col('x') * 2"
            )
    return tuple(Named(name=name, expression=formula.expression) for name, formula in formulas.items())


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(_key(name).name for name in ([names] if isinstance(names, str) else names))


def _equalities(names: Iterable[str] | Mapping[str, str]) -> tuple[Equality, ...]:
    pairs = names.items() if isinstance(names, Mapping) else ((name, name) for name in names)
    return tuple(Equality(left=left, right=right) for left, right in pairs)
