"""The values of bounded rows, for a mechanism that reads them all: a fit.

Values become integers inside the engine, in the same way on all of them: indices of grid points, places
among listed keys. These integers are the content by which lots are drawn, so that which rows of a person stay
is a function of that person's own rows and the salt. Here integers become values again. They are as private
as the rows; only a mechanism reads them. (Proof: fits.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.data.facts.fanout import fan_out
from discreet.data.facts.limits import limits_of
from discreet.data.facts.plan_check import check_values
from discreet.data.facts.relation_facts import columns_of_relation, is_single
from discreet.data.language.declarations import Bounds
from discreet.data.language.measures import Axis
from discreet.data.language.plan import RowPlan
from discreet.data.language.relations import Relation, leftmost
from discreet.errors import UnsupportedQuery

if TYPE_CHECKING:
    import ibis.expr.types
    import pyarrow
    from numpy.typing import NDArray

    from discreet.data.salt import Salt
    from discreet.data.tables.table import Table

__all__ = ["NOT_LISTED", "check_row_plan", "compute_rows", "rows_of_a_person"]


_SHARD = "shard"


class _NotListed:
    """The type of `NOT_LISTED`."""

    def __repr__(self) -> str:
        return "NOT_LISTED"


NOT_LISTED: Final = _NotListed()
"""What stands for a key that is not listed: unlike None, it is never a key."""


def rows_of_a_person(relation: Relation, tables: Mapping[str, Table]) -> int:
    """Return how many rows of a person are taken: as many as a question without groups counts."""
    limits = limits_of(relation, tables)
    most = limits.rows if limits.rows is not None else limits.rows_per_group
    assert most is not None  # noqa: S101
    return most


def check_row_plan(plan: RowPlan, tables: Mapping[str, Table]) -> None:
    """Refuse a plan that the declarations do not admit, before anything is charged."""
    columns = columns_of_relation(plan.source, tables)
    fan_out(plan.source, tables)  # refuses what multiplies rows too far
    for axis in plan.columns:
        check_values(axis.column, axis.values, columns)
    if plan.rows != rows_of_a_person(plan.source, tables):
        raise UnsupportedQuery(
            "a plan takes another number of rows of a person than the limits; make it anew"
        )


def compute_rows(plan: RowPlan, tables: Mapping[str, Table], *, salt: Salt) -> tuple[NDArray[Any], ...]:
    """Return the columns of a plan, all of the same length, in no particular order of rows.

    Numbers are doubles on their grid, NaN where absent; keys are objects, `NOT_LISTED` where they are none.
    If the plan has shards, their numbers are one more column, the last.

    Guarantee
    ---------
    Adding or removing a person adds or removes at most `plan.rows` rows and changes no other one, for every
    salt (proof: fits, lemma 1). All rows of a person have one shard.

    Raises
    ------
    EngineFailed
        If the engine does not finish; the message says nothing about why.
    """
    check_row_plan(plan, tables)
    from discreet.data.engines.base import fetch
    from discreet.data.lots import measure_name

    found = fetch(_bounded(plan, tables, salt), tables[leftmost(plan.source).table]._backend)
    read = [_values(found.column(measure_name(place)), axis) for place, axis in enumerate(plan.columns)]
    if plan.shards is not None:
        read.append(np.asarray(found.column(_SHARD).to_numpy(), dtype=np.int64))
    return tuple(read)


def _bounded(plan: RowPlan, tables: Mapping[str, Table], salt: Salt) -> ibis.expr.types.Table:
    from discreet.data.compile.keys import place
    from discreet.data.compile.relations import rows_of
    from discreet.data.grid import steps
    from discreet.data.lots import PERSON, measure_name, number_rows, sample_rows, shard_of
    from discreet.data.prepared.sample import needs_no_bounding

    rows = rows_of(plan.source, tables, salt)
    found = rows.columns
    codes = {
        measure_name(number): (
            steps(found[axis.column], axis.values)
            if isinstance(axis.values, Bounds)
            else place(found[axis.column], axis.values)
        )
        for number, axis in enumerate(plan.columns)
    }
    person = {PERSON: rows.table[PERSON]} if rows.has_person else {}
    chosen = rows.table.select(**person, **codes)
    if plan.target is not None:
        names = [axis.column for axis in plan.columns]
        chosen = chosen.filter(chosen[measure_name(names.index(plan.target))].notnull())
    bounded = is_single(plan.source, tables) or needs_no_bounding(plan.source, tables)
    if rows.has_person and not bounded:
        chosen = sample_rows(chosen, plan.rows, salt)
    if plan.shards is not None:
        chosen = chosen if rows.has_person else number_rows(chosen)
        return chosen.select(*codes, **{_SHARD: shard_of(chosen, plan.shards, salt)})
    return chosen.select(*codes)


def _values(column: pyarrow.ChunkedArray, axis: Axis) -> NDArray[Any]:
    """Return values again: doubles for grid points, keys for places."""
    import pyarrow.compute

    absent = np.asarray(pyarrow.compute.is_null(column).to_numpy(), dtype=bool)
    codes = np.asarray(column.fill_null(0).to_numpy(), dtype=np.int64)
    if isinstance(axis.values, Bounds):
        step = axis.values.step
        numbers = codes.astype(np.float64) * float(step.numerator) / float(step.denominator)
        return np.where(absent, np.nan, numbers)
    listed = np.empty(len(axis.values) + 1, dtype=object)
    listed[:-1] = axis.values.values
    listed[-1] = NOT_LISTED
    return np.asarray(listed[np.where(absent, len(axis.values), codes)], dtype=object)
