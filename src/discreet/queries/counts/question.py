"""Questions for many counts at once, answered from one measurement of a whole table of counts."""

from __future__ import annotations

import datetime
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from discreet.curator.request.request import Request, column_names
from discreet.data import Axis, GroupKey, Keys, Relation, Source, Table, Type, count
from discreet.data.facts.persons import person_columns
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.column_facts import Columns, types_of
from discreet.data.language.relations import leftmost
from discreet.data.language.types import column_type
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.mechanisms.calibration import smallest
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, rational
from discreet.queries.binding.bind import bind, own_columns
from discreet.queries.binding.missing_declarations import missing_bounds, missing_keys
from discreet.queries.counts.cells import default_width, widened
from discreet.queries.noise.build_request import expectations
from discreet.queries.noise.unknown_keys import unknown_keys
from discreet.queries.question.dataframe import GroupedRequest, TableRequest
from discreet.queries.question.query import Query, key_of
from discreet.records import dataclass

__all__ = ["Domain", "LinearQuestion", "name_of_counts", "relation_of"]

_MOST_STEPS = 20
_CLOSE = 1e-6

COUNT = "n"
"""What the counts are called in an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """What is public about the rows of a question.

    Attributes
    ----------
    source : Relation
        The rows.
    keys : tuple of GroupKey
        The groups, each of which has a table of counts.
    columns : Columns
        The columns.
    tables : mapping of names to Table
        The declared tables.
    versions : tuple of (table, version)
        Which data are read.
    """

    source: Relation
    keys: tuple[GroupKey, ...]
    columns: Columns
    tables: Mapping[str, Table]
    versions: tuple[tuple[str, str], ...]

    def axis(self, column: str, width: Number | None, most: int) -> Axis:
        """Return the axis of a column of numbers, in cells of a width, or of at most this many cells."""
        column_type(column, types_of(self.columns))
        bounds = self.columns[column].bounds
        if bounds is None and not self.columns[column].type.is_number:
            raise UndeclaredColumn(f"{column!r} holds no numbers, and has no ranges; {self._instead(column)}")
        if bounds is None:
            persons, own = person_columns(self.source, self.tables), own_columns(self.source, self.tables)
            raise missing_bounds(column, "histogram", self.columns, persons, own.get(column))
        return default_width(column, bounds, most) if width is None else widened(column, bounds, width)

    def _instead(self, column: str) -> str:
        """Say what to ask of a column that is not of numbers: of days, the number since the first one."""
        facts = self.columns[column]
        if facts.type not in {Type.DATE, Type.TIMESTAMP, Type.INSTANT}:
            return f"ask for its keys, as with by={column!r}, or for dp.marginals"
        first = datetime.date(2024, 1, 1) if facts.dates is None else facts.dates.first
        day = f"date({first.year}, {first.month}, {first.day})"
        clip = ".clip(0, 365)" if facts.dates is None else ""
        return (
            f"ask for the days since the first, rows = clinic.table({leftmost(self.source).table!r})"
            f".derive(since=col({column!r}).days_since({day}){clip}) and dp.ranges(rows, 'since'), of which "
            "count(31, 60) is from day 31 up to, but without, day 60"
        )

    def table_axis(self, column: str, width: Number | None, of_numbers: Number | None, most: int) -> Axis:
        """Return the axis of a column of keys, or of numbers; these in cells of one of the widths."""
        column_type(column, types_of(self.columns))
        keys = self.columns[column].keys
        if keys is None and not self.columns[column].type.is_number:
            persons, own = person_columns(self.source, self.tables), own_columns(self.source, self.tables)
            raise missing_keys(column, self.columns, persons, own.get(column), aggregate="table")
        if keys is None or self.columns[column].bounds is not None:
            return self.axis(column, of_numbers if width is None else width, most)
        if width is not None:
            raise ParameterError("width", f"is given for {column!r}, which has keys", "widths of numbers")
        return Axis(column=column, values=keys)


class LinearQuestion(ABC):
    """A question whose answer contains those to many others. Building it reads no data."""

    __slots__ = ()

    relation: Relation

    @property
    def table(self) -> str:
        """The name of the table that is read."""
        return leftmost(self.relation).table

    @abstractmethod
    def request(self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction) -> Request:
        """Return the request that an offer buys."""

    def domain(
        self, tables: Mapping[str, Table], by: tuple[str, ...] = (), listed: tuple[tuple[str, Keys], ...] = ()
    ) -> Domain:
        """Return what is public about the rows, or refuse tables and groups that do not exist."""
        query = Query(
            relation=self.relation,
            keys=tuple(key_of(name) for name in by),
            outputs=((COUNT, count()),),
            listed=listed,
        )
        for name in unknown_keys(query, tables):
            raise UndeclaredColumn(
                f"{name!r} is grouped by, but its keys were never declared; list those that you know, as in "
                f"by={{{name!r}: [...]}}, or leave it out"
            )
        bound = bind(query, tables)
        return Domain(
            source=bound.plan.source,
            keys=bound.plan.keys,
            columns=columns_of_relation(bound.plan.source, tables),
            tables=tables,
            versions=bound.versions,
        )

    def offer_for(
        self,
        tables: Mapping[str, Table],
        error: Mapping[str, Number],
        confidence: Fraction,
        offer: Callable[[Fraction], Offer] = Offer.pure,
    ) -> Offer:
        """Return the smallest offer, by default of epsilon, whose expected margin is as small as wanted."""
        (output,) = self.request(tables, offer(Fraction(1)), confidence).outputs
        if not isinstance(error, Mapping) or set(error) != {output.name}:
            raise ParameterError(
                "error", "is empty, or names an unknown output", f"error={{{output.name!r}: 100}}"
            )
        wanted = rational(error[output.name], "error", positive=True)

        def margin(parameter: Fraction) -> float:
            (expected,) = expectations(self.request(tables, offer(parameter), confidence))
            return expected.margin

        found = _scaled(margin, float(wanted), 1 if offer(Fraction(1)).rho is None else 2)
        return offer(found or smallest(lambda parameter: margin(parameter) <= wanted, "error"))


def _scaled(margin: Callable[[Fraction], float], wanted: float, power: int) -> Fraction | None:
    """Return a parameter whose margin is what is wanted, or less by a millionth; None if that fails.

    Margins fall about as 1 / epsilon, or 1 / sqrt(rho), so that few steps lead there.
    """
    parameter = Fraction(1)
    for _ in range(_MOST_STEPS):
        try:
            ratio = margin(parameter) / wanted
        except ParameterError:
            return None
        if 1 - _CLOSE <= ratio <= 1:
            return parameter
        parameter *= Fraction(f"{ratio**power * (1 + _CLOSE / 2):.12g}")
        parameter = Fraction(f"{float(parameter):.12g}")
    return None


def name_of_counts(columns: Iterable[str]) -> str:
    """Return a name for the counts that no column of the answer has, nor the ends of its intervals."""
    taken = {column.lower() for column in columns}
    names = itertools.chain((COUNT, "rows"), (f"{COUNT}_{place}" for place in itertools.count(2)))
    return next(name for name in names if taken.isdisjoint(column_names(name)))


def relation_of(rows: str | TableRequest) -> Relation:
    """Return the rows that a question is about: those of a table by its name, or filtered ones."""
    if isinstance(rows, TableRequest):
        return Source(table=rows.table) if rows.relation is None else rows.relation
    if isinstance(rows, str) and rows:
        return Source(table=rows)
    if isinstance(rows, GroupedRequest):
        raise UnsupportedQuery("the rows are in groups already; name the columns of the groups with by='…'")
    raise UnsupportedQuery(
        "the rows are neither the name of a table nor what table(…) built; write 'visits', or "
        "clinic.table('visits').filter(col('age') < 40)"
    )
