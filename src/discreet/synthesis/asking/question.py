"""Questions for a synthetic table: columns of a private table, and a method. Building one reads no data."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import (
    Bounds,
    ContingencyTable,
    Dates,
    Group,
    Keys,
    Relation,
    Source,
    Table,
    Type,
    col,
    count,
    sensitivity,
)
from discreet.data.language.declarations import KeyValue
from discreet.data.language.measures import WholeAxis
from discreet.data.language.relations import Derive, Filter, Named
from discreet.data.tables.row_facts import Determined, Impossible, RowFact
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, whole
from discreet.queries.counts.question import COUNT, Domain, LinearQuestion
from discreet.queries.question.query import Query, key_of
from discreet.records import Record
from discreet.synthesis.asking.table_synthesis import ANSWER_NAMES, TableSynthesis
from discreet.synthesis.columns.coded_column import EPOCH, MOST_CELLS, CodedColumn, coded, whole_axis
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.methods.adaptive import Adaptive, WeightedSets
from discreet.synthesis.methods.base import Synthesizer
from discreet.synthesis.methods.independent import Independent
from discreet.synthesis.methods.spanning_tree import SpanningTree

__all__ = ["METHODS", "SynthesisQuestion"]

METHODS: dict[str, type[Synthesizer]] = {
    "adaptive": Adaptive,
    "independent": Independent,
    "spanning tree": SpanningTree,
}
"""The methods by name."""
_MOST_BINS = 256
_MADE_UP: dict[Type, tuple[KeyValue, ...]] = {
    Type.BOOLEAN: (False,),
    Type.DATE: (datetime.date(1970, 1, 1),),
    Type.TEXT: ("none was chosen",),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SynthesisQuestion(Record, LinearQuestion):
    """A synthetic table of some columns.

    Attributes
    ----------
    relation : Relation
        The rows.
    columns : tuple of str
        Columns with declared keys, or with bounds.
    method : str
        One of `METHODS`.
    widths : mapping of columns to numbers
        How wide a cell of a column of numbers is, if given.
    missing : bool
        Whether what is missing or not declared is a value of its own; else such rows are left out.
    workload : sets of columns, optional
        For the adaptive method.
    facts : tuple of Impossible and Determined, or None
        What is declared about rows, besides what the owner of the table declared; None to know no facts, not
        even the owner's.
    bins : mapping of columns to int
        How many cells between bought quantiles a column of numbers or days has.
    cuts : mapping of columns to grid points
        Where these begin, once they are bought.
    most : int
        How many cells a column of numbers has at most, if no width is given.
    chosen : mapping of columns to keys
        Keys that were chosen privately, perhaps none, of columns that have no declared ones.
    """

    relation: Relation
    columns: tuple[str, ...]
    method: str
    widths: Mapping[str, Number]
    missing: bool = True
    workload: WeightedSets | None = None
    facts: tuple[RowFact, ...] | None = ()
    chosen: Mapping[str, tuple[KeyValue, ...]] = field(default_factory=dict)
    bins: Mapping[str, int] = field(default_factory=dict)
    cuts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    most: int = MOST_CELLS

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError("method", "is not known", f"one of {sorted(METHODS)}")
        if self.workload is not None and self.method != "adaptive":
            raise ParameterError("workload", "is given for a method that chooses itself", "method='adaptive'")
        if self.workload is not None and not isinstance(self.workload, Mapping):
            # A request is made several times of one question: an iterator would be used up by the first.
            held = tuple(one if isinstance(one, str) else tuple(one) for one in self.workload)
            self._amend(workload=held)
        if len(set(self.columns)) != len(self.columns):
            raise ParameterError("columns", "name a column twice", "each column once")
        if not set(self.bins) <= set(self.columns) - set(self.widths):
            raise ParameterError(
                "bins",
                "are wanted of another column, or of one with a width",
                f"some of {list(self.columns)}",
            )
        for many in self.bins.values():
            whole(many, "bins", least=2, most=_MOST_BINS)
        if not set(self.widths) <= set(self.columns):
            raise ParameterError("width", "is given for another column", f"one of {list(self.columns)}")

    def request(  # type: ignore[override]
        self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction
    ) -> TabulatedRequest:
        """Return the request that an offer buys; everything that can be refused is refused here."""
        taken = sorted(ANSWER_NAMES & set(self.columns))
        if taken:
            raise UnsupportedQuery(
                f"the answer has columns of its own that are called {', '.join(map(repr, taken))}; "
                "give columns of the data other names"
            )
        facts = self.known_facts(tables)
        mapped = _mapped(facts)
        for one in facts:
            if isinstance(one, Determined) and one.column in self.chosen and one.column not in mapped:
                raise ParameterError(
                    "facts",
                    f"let {one.column!r} follow from {one.by!r} without a mapping, and its keys are unknown",
                    f"declare the keys of {one.column!r}, or give the mapping",
                )
        days = self._days(tables, mapped)
        public = replace(self, relation=_numbered(self.relation, days)).domain(tables)
        listed = {
            name: None if name in mapped else self._cut(self._column(public, name, days))
            for name in self.columns
        }
        facts += tuple(
            Impossible({name: listed[name].labels[0]})  # type: ignore[union-attr]
            for name, keys in self.chosen.items()
            if not keys and listed.get(name) is not None
        )
        rows = self._rows(tables, public.source, CodedColumns.declared(listed))
        made = self._synthesizer(listed, facts, offer, rows)
        made.check_cells()
        held = made.counted.columns
        measures = tuple(
            ContingencyTable(axes=tuple(held[column].axis for column in chosen))
            for chosen in made.counted_sets
        )
        present = () if self.missing else tuple(column.axis for column in held if not column.chosen)
        return TabulatedRequest(
            plan=Group(source=public.source, present=present, measures=measures),
            versions=public.versions,
            mechanism=TableSynthesis(synthesizer=made),
            confidence=confidence,
        )

    def known_facts(self, tables: Mapping[str, Table]) -> tuple[RowFact, ...]:
        """Return the facts that were stated, and those of the table that are about these columns.

        Filtered rows of a table keep to its facts; columns that are calculated need not.
        """
        if self.facts is None:
            return ()
        source, known = self.relation, set(self.columns)
        while isinstance(source, Filter):
            source = source.source
        found = tables.get(source.table) if isinstance(source, Source) else None
        declared: tuple[RowFact, ...] = getattr(found, "facts", ())
        follow = {one.column for one in self.facts if isinstance(one, Determined)}
        kept = [
            one
            for one in declared
            if set(one.columns) <= known and not (isinstance(one, Determined) and one.column in follow)
        ]
        return tuple(dict.fromkeys((*self.facts, *kept)))

    def mapped_columns(self, tables: Mapping[str, Table]) -> set[str]:
        """Return the columns that are rebuilt by a declared mapping, and never read."""
        return _mapped(self.known_facts(tables))

    def _cut(self, column: CodedColumn) -> CodedColumn:
        """Return a column with cells that were bought, in place of cells of one width."""
        values = column.axis.values
        if column.name not in self.cuts or not isinstance(values, Bounds):
            return column
        axis = replace(column.axis, width=values.upper_steps - values.lower_steps + 1, cuts=())
        return replace(column, axis=axis).cut(self.cuts[column.name])

    def unknown_keys(self, tables: Mapping[str, Table]) -> tuple[str, ...]:
        """Return the columns that have neither keys nor numbers: their keys must be chosen first."""
        public, mapped = self.domain(tables), self.mapped_columns(tables)
        return tuple(
            name
            for name in self.columns
            if name not in mapped
            and name in public.columns
            and public.columns[name].keys is None
            and public.columns[name].dates is None
            and not public.columns[name].type.is_number
        )

    def _days(self, tables: Mapping[str, Table], mapped: set[str]) -> dict[str, Dates]:
        """Return the columns of all days from one to another: their cells are numbers of days after 1970.

        Columns of some days, such as the first of each month, have keys.
        """
        known = self.domain(tables).columns
        found: dict[str, Dates] = {}
        for name in (name for name in self.columns if name not in mapped and name in known):
            days, keys = known[name].dates, known[name].keys
            if days is None or known[name].type is not Type.DATE:
                continue
            if keys is None or len(keys) == (days.last - days.first).days + 1:
                found[name] = days
        return found

    def query_of(self, names: tuple[str, ...]) -> Query:
        """Return the question by which the keys of some columns are chosen."""
        keys = tuple(key_of(name) for name in names)
        return Query(relation=self.relation, keys=keys, outputs=((COUNT, count()),))

    def _column(self, public: Domain, name: str, days: Mapping[str, Dates]) -> CodedColumn:
        """Return the cells of a column: by its declaration, or of keys that were chosen.

        Of these missing values are one more, so that the last cell is for other keys alone. If no key was
        chosen, a made-up one, which no row of the model has, stands for them.
        """
        if name in self.chosen:
            known = self.chosen[name] or _MADE_UP[public.columns[name].type]
            axis = WholeAxis(column=name, values=Keys([*known, None]))
            return CodedColumn(axis=axis, chosen=True)
        width = self.widths.get(name)
        if name in days:
            return coded(name, days[name], missing=self.missing, width=width, most=self.most)
        plain = public.table_axis(name, width, None, self.most)
        return CodedColumn(axis=whole_axis(plain) if self.missing else plain)

    def _rows(self, tables: Mapping[str, Table], source: Relation, domain: CodedColumns) -> int:
        """Return how many rows of a person count."""
        table = ContingencyTable(axes=(domain.columns[0].axis,))
        (found,) = sensitivity(Group(source=source, measures=(table,)), tables).statistics
        return int(found.sensitivity.l1)

    def _synthesizer(
        self, listed: Mapping[str, CodedColumn | None], facts: tuple[RowFact, ...], offer: Offer, rows: int
    ) -> Synthesizer:
        epsilon, delta, rho = offer.epsilon, offer.delta, offer.rho
        if self.method == "adaptive":
            return Adaptive(
                columns=listed,
                rows=rows,
                workload=self.workload,
                facts=facts,
                epsilon=epsilon,
                delta=delta,
                rho=rho,
            )
        plain = Independent if self.method == "independent" else SpanningTree
        return plain(columns=listed, rows=rows, facts=facts, epsilon=epsilon, delta=delta, rho=rho)

    def __repr__(self) -> str:
        return f"SynthesisQuestion(source {self.table}; {', '.join(self.columns)}; {self.method})"


def _mapped(facts: tuple[RowFact, ...]) -> set[str]:
    """Return the columns that are rebuilt by a declared mapping, and never read."""
    return {one.column for one in facts if isinstance(one, Determined) and one.mapping is not None}


def _numbered(relation: Relation, days: Iterable[str]) -> Relation:
    """Return rows in which days are numbers: how many days after the first of 1970 they are."""
    named = tuple(
        Named(name=name, expression=col(name).days_since(EPOCH).expression) for name in sorted(days)
    )
    return Derive(source=relation, columns=named) if named else relation
