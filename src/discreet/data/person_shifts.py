"""By how much each person moves the integers of a plan: for the owner alone, like `Table.check`.

Where a plan maps rows of one table to at most one row each, what a person adds is a function of their own
rows. If the limits cut none of them, it is also the same for every salt, so that removing the person moves
the plan's integers by exactly that (docs/proofs/per_instance.md, proposition 7). What is not known is said
to be unknown, and is counted in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.data.contributions import contributions
from discreet.data.contributions_prepared import prepared_totals
from discreet.data.engines.statements import fetch_plan
from discreet.data.facts.limits import limits_of
from discreet.data.facts.plan_check import check_plan
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.declarations import EACH_ROW, Keys, Limits
from discreet.data.language.measures import (
    ContingencyTable,
    CountDistinct,
    CountPersons,
    CountRows,
    Histogram,
    Measure,
    SumDistinct,
)
from discreet.data.language.plan import Plan
from discreet.data.language.relations import Derive, Filter, Project, Source
from discreet.data.lots import PERSON, axis_name, key_name, measure_name
from discreet.data.prepared.sample import needs_no_bounding
from discreet.data.salt import fresh_salt
from discreet.errors import ParameterError
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["PersonShifts", "person_shifts"]

Shift: TypeAlias = tuple[int, ...]
"""By how much each entry of a vector moves; entries that stay are left out."""
_Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonShifts:
    """How far each person who is in a plan's rows moves each of its measures. Private, for the owner alone.

    Attributes
    ----------
    moved : mapping of persons to shifts
        One shift for each measure of the plan, in order; None where the shift is not known. Persons who are
        not there move nothing.
    """

    moved: Mapping[Hashable, tuple[Shift | None, ...]] = field(repr=False)


def person_shifts(plan: Plan, tables: Mapping[str, Table]) -> PersonShifts | None:
    """Return by how much each person moves the measures of a plan; None if that is not a matter of own rows.

    Raises
    ------
    ParameterError
        If the rows of a table are persons without a name.
    EngineFailed
        If the engine does not finish; the message says nothing about why.
    """
    check_plan(plan, tables)
    relation = plan.source
    while isinstance(relation, Filter | Project | Derive):
        relation = relation.source
    if not isinstance(relation, Source):
        return None
    if tables[relation.table].person is EACH_ROW:
        raise ParameterError(
            "releases",
            "are about a table whose rows are persons without a name",
            "tables with a person column",
        )
    salt = fresh_salt()
    if needs_no_bounding(plan.source, tables) or prepared_totals(plan, tables, salt) is not None:
        return None  # rows were drawn in advance, by lots that are not known here
    fetched = fetch_plan(contributions, plan, tables, salt).to_pylist()
    limits = None if is_single(plan.source, tables) else limits_of(plan.source, tables)
    rows: dict[Hashable, list[_Row]] = {}
    for row in fetched:
        rows.setdefault(row[PERSON], []).append(row)
    return PersonShifts(moved={person: _shifts(plan, own, limits) for person, own in rows.items()})


def _shifts(plan: Plan, rows: list[_Row], limits: Limits | None) -> tuple[Shift | None, ...]:
    groups = Counter(_group(row, plan) for row in rows)
    if limits is not None and _are_cut(groups, limits):
        return (None,) * len(plan.measures)
    return tuple(_shift(plan, index, rows) for index in range(len(plan.measures)))


def _are_cut(groups: Counter[tuple[Any, ...]], limits: Limits) -> bool:
    if limits.rows is not None:
        return groups.total() > limits.rows
    assert limits.groups is not None  # noqa: S101
    assert limits.rows_per_group is not None  # noqa: S101
    return len(groups) > limits.groups or max(groups.values()) > limits.rows_per_group


def _shift(plan: Plan, index: int, rows: list[_Row]) -> Shift | None:
    """Return what a person's rows add to each entry of a measure; None if others' rows matter."""
    measure = plan.measures[index]
    if isinstance(measure, CountDistinct | SumDistinct):
        return None
    if isinstance(measure, CountPersons):
        return (1,) * len({_group(row, plan) for row in rows})
    entries: Counter[Hashable] = Counter()
    for entry, amount in _terms(plan, index, measure, rows):
        entries[entry] += amount
    return tuple(sorted(abs(amount) for amount in entries.values() if amount))


def _terms(plan: Plan, index: int, measure: Measure, rows: list[_Row]) -> Iterator[tuple[Hashable, int]]:
    """Yield which entry each row adds to, and how much."""
    for row in rows:
        group = _group(row, plan)
        if isinstance(measure, CountRows):
            yield group, 1
        elif isinstance(measure, ContingencyTable):
            cell = tuple(row[axis_name(plan.axes.index(axis))] for axis in measure.axes)
            if None not in cell:
                yield (group, cell), 1
        elif isinstance(measure, Histogram):
            value = row[measure_name(index)]
            listed = measure.values.values if isinstance(measure.values, Keys) else None
            if value is not None if listed is None else value in listed:
                yield (group, value), 1
        else:
            yield group, int(row[measure_name(index)])


def _group(row: _Row, plan: Plan) -> tuple[Any, ...]:
    return tuple(row[key_name(place)] for place in range(len(plan.keys)))
