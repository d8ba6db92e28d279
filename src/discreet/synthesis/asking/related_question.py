"""Questions for two related synthetic tables: persons, and events of each. Building one reads no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Axis, ContingencyTable, Group, Limits, Relation, Table, coalesce, col, sensitivity
from discreet.data.facts.limits import declared_limits, limits_of
from discreet.data.language.expressions import Column
from discreet.data.language.first_table import with_limits
from discreet.data.language.relations import (
    Derive,
    Equality,
    JoinPersons,
    Named,
    PerPerson,
    Personal,
    PersonalFunction,
    Project,
    leftmost,
    public_tables,
    sources_of,
)
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number
from discreet.queries.counts.question import Domain, LinearQuestion
from discreet.synthesis.asking.related_synthesis import RelatedSynthesis
from discreet.synthesis.asking.table_synthesis import ANSWER_NAMES
from discreet.synthesis.columns.coded_column import MOST_CELLS, CodedColumn, whole_axis
from discreet.synthesis.related.related_tables import RelatedTables, TableNames, number_axis

__all__ = ["RelatedQuestion"]

_RAW = "events counted"
_KEY = "person"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelatedQuestion(LinearQuestion):
    """Synthetic persons with some columns, and events with others.

    Two plans are counted. The first has a row for each person: their columns, and the number of their events,
    at most the limit; 0 for persons without any. The second has a row for each event of such a person: its
    columns, and those of the person. Events of persons who are not in the first table are left out.

    Attributes
    ----------
    relation : Relation
        The rows of persons; one of each counts as a person.
    events : Relation
        The rows of events; as many of each person count as the limits say.
    columns, event_columns : tuple of str
        Columns with declared keys, or with bounds.
    widths : mapping of columns to numbers
        How wide a cell of a column of numbers is, if given; in both tables, if both have the column.
    limits : Limits or None
        How many events of a person count, if fewer than declared.
    """

    relation: Relation
    events: Relation
    columns: tuple[str, ...]
    event_columns: tuple[str, ...]
    widths: Mapping[str, Number]
    limits: Limits | None = None

    def __post_init__(self) -> None:
        if leftmost(self.events).table == leftmost(self.relation).table:
            raise ParameterError("events", "are rows of the table of persons", "another table")
        for name, listed in (("columns", self.columns), ("event_columns", self.event_columns)):
            if not listed or len(set(listed)) != len(listed):
                raise ParameterError(name, "are none, or one of them twice", "each column once")
        taken = sorted(ANSWER_NAMES & set(self.event_columns))
        if taken:
            raise UnsupportedQuery(
                f"the answer has columns of its own that are called {', '.join(map(repr, taken))}; "
                "give columns of the data other names"
            )
        if not set(self.widths) <= {*self.columns, *self.event_columns}:
            raise ParameterError("width", "is given for another column", "one of those that are listed")

    def request(  # type: ignore[override]
        self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction
    ) -> TabulatedRequest:
        """Return the request that an offer buys; everything that can be refused is refused here."""
        events, rows = self._bounded_events(tables)
        persons = with_limits(self.relation, self._one(tables))
        of_persons = self._columns(LinearQuestion.domain(self, tables), self.columns)
        of_events = self._columns(_EventRows(relation=events).domain(tables), self.event_columns)
        names = self._names(tables)
        inner = _apart(names, self.columns, self.event_columns)
        number = number_axis(inner[-1], rows)
        first = _with_numbers(_projected(persons, self.columns, inner), events, inner[-1], rows)
        added = tuple(Equality(left=name, right=name) for name in inner)
        second = JoinPersons(left=_projected(events, self.event_columns), right=first, columns=added)
        held = [
            CodedColumn(axis=_renamed(one.axis, name), dates=one.dates)
            for one, name in zip(of_persons, inner, strict=False)
        ]
        made = RelatedTables.bought(held, of_events, number=number, offer=offer, rows=rows, names=names)
        plans = (
            _plan(first, [*held, CodedColumn(axis=number)], made.persons.counted_sets),
            _plan(second, [*held, CodedColumn(axis=number), *of_events], made.events.counted_sets),
        )
        for one in plans:
            sensitivity(one, tables)  # refuses what the declarations do not admit
        sources = [one.source for one in plans]
        read = dict.fromkeys(
            chain(*(sources_of(one) for one in sources), *(public_tables(one) for one in sources))
        )
        return TabulatedRequest(
            plan=plans[0],
            further=plans[1:],
            versions=tuple((name, tables[name].version) for name in read),
            mechanism=RelatedSynthesis(synthesizer=made),
            confidence=confidence,
        )

    def _bounded_events(self, tables: Mapping[str, Table]) -> tuple[Relation, int]:
        """Return the rows of events with their limits, and how many of a person count."""
        _EventRows(relation=self.events).domain(tables)
        limits = self.limits
        if limits is None:
            limits = declared_limits(self.events, tables)
            if limits.is_bought:
                raise UnsupportedQuery(
                    "the limit of the table of events is bought by every question, and synthetic tables buy "
                    "none; state one, such as limits=Limits(rows=5)"
                )
        elif not isinstance(limits, Limits) or limits.is_bought:
            raise ParameterError("limits", "are not a number of rows", "such as Limits(rows=5)")
        bounded = with_limits(self.events, limits)
        held = limits_of(bounded, tables)
        rows = held.rows if held.rows is not None else held.rows_per_group
        assert rows is not None  # noqa: S101
        return bounded, rows

    def _one(self, tables: Mapping[str, Table]) -> Limits:
        """Return the limits under which one row of each person counts, of the kind that was declared."""
        LinearQuestion.domain(self, tables)
        declared = declared_limits(self.relation, tables)
        return Limits(rows=1) if declared.rows is not None else Limits(groups=1, rows_per_group=1)

    def _columns(self, public: Domain, names: tuple[str, ...]) -> list[CodedColumn]:
        axes = [public.table_axis(name, self.widths.get(name), None, MOST_CELLS) for name in names]
        return [CodedColumn(axis=whole_axis(axis)) for axis in axes]

    def _names(self, tables: Mapping[str, Table]) -> TableNames:
        persons, events = leftmost(self.relation).table, leftmost(self.events).table
        keys = [
            tables[name].person if isinstance(tables[name].person, str) else _KEY
            for name in (persons, events)
        ]
        for key, listed in zip(keys, (self.columns, self.event_columns), strict=True):
            if key in listed:
                raise UnsupportedQuery(f"{key!r} is the name of the key; give the column another name")
        return TableNames(
            persons=persons,
            events=events,
            person_key=str(keys[0]),
            event_key=str(keys[1]),
            columns=self.columns,
        )

    def __repr__(self) -> str:
        return (
            f"RelatedQuestion({self.table}: {', '.join(self.columns)}; "
            f"{leftmost(self.events).table}: {', '.join(self.event_columns)})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _EventRows(LinearQuestion):
    """The rows of events, to look up what is public about them."""

    relation: Relation

    def request(  # type: ignore[override]
        self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction
    ) -> TabulatedRequest:
        """Refuse: events are asked with their persons."""
        raise NotImplementedError


def _projected(
    relation: Relation, columns: tuple[str, ...], names: tuple[str, ...] | None = None
) -> Relation:
    """Return some columns of a relation, under other names."""
    called = zip(columns, columns if names is None else names, strict=False)
    return Project(
        source=relation,
        columns=tuple(Named(name=name, expression=Column(name=column)) for column, name in called),
    )


def _with_numbers(persons: Relation, events: Relation, name: str, rows: int) -> Relation:
    """Return persons with how many events they have, from 0 to a limit."""
    counted = PerPerson(source=events, columns=(Personal(name=_RAW, function=PersonalFunction.COUNT),))
    beside = JoinPersons(left=persons, right=counted, columns=(Equality(left=_RAW, right=_RAW),), outer=True)
    within = coalesce(col(_RAW), 0).clip(0, rows)
    return Derive(source=beside, columns=(Named(name=name, expression=within.expression),))


def _apart(names: TableNames, columns: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return names for columns of persons, and for the number of events, that no other column has."""
    taken = {name.lower() for name in (*others, *ANSWER_NAMES, _RAW)}
    found = []
    for plain in (*columns, f"{names.events}_per_person"):
        name = plain
        while name.lower() in taken:
            name = f"{names.persons}.{name}"
        taken.add(name.lower())
        found.append(name)
    return tuple(found)


def _renamed(axis: Axis, name: str) -> Axis:
    return type(axis)(column=name, values=axis.values, width=axis.width)


def _plan(source: Relation, columns: list[CodedColumn], sets: tuple[tuple[int, ...], ...]) -> Group:
    measures = tuple(
        ContingencyTable(axes=tuple(columns[column].axis for column in chosen)) for chosen in sets
    )
    return Group(source=source, measures=measures)
