"""Tables that are bounded ahead of time: the sample is drawn once, and every query is a plain GROUP BY.

Of a table with ``Limits(rows=k)`` at most k rows of each person are drawn, by lots over the whole content of
a row, before any condition is asked. They are kept in the engine, in a temporary table (on Spark, as a
checkpoint). Beside each column with `Bounds` lies its integer on the grid, beside each with `Keys` the
number of its key, so that a query neither converts numbers nor compares text.

The rows of a person in the sample are a function of that person's own rows and the sample's salt, and there
are at most k. Whatever maps each of them to at most one row (conditions, calculated columns)
leaves at most k, so it needs no bounding again; everything else is bounded as on any table.
(Proof: contribution_bounding.)
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast
from uuid import uuid4

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import pyarrow
from ibis.expr.types import Column, Value
from ibis.expr.types import Table as Rows

from discreet.data.bounding import PERSON, ROWS, key_name, measure_name, sampled
from discreet.data.compile import compiled
from discreet.data.declarations import Bounds, Keys
from discreet.data.engine import await_table, bounded_total, double, keep, public_type
from discreet.data.grid import clipped, steps
from discreet.data.measures import CountNonNull, CountPersons, CountRows, Measure, Moment, Sum
from discreet.data.relation import Derive, Filter, Project, Relation, Source
from discreet.data.salt import fresh_salt
from discreet.data.schema import Type

if TYPE_CHECKING:
    from discreet.data.declarations import Declared, Limits
    from discreet.data.plan import GroupKey, Plan
    from discreet.data.table import Table

__all__ = ["Sample", "is_bounded_ahead", "needs_no_bounding", "totals"]

_SMALL = 1 << 15
_VALUE, _NUMBER = "listed_value", "listed_number"


class Sample:
    """The rows of a table that are used, drawn when they are first asked for.

    Parameters
    ----------
    rows : Ibis table
        All rows, in the types that engines share.
    backend : Ibis connection
        Where they are.
    person : str
        The column of persons.
    limits : Limits
        Of rows.
    columns : mapping of names to what is declared of them
        Which columns get an integer beside them.

    Attributes
    ----------
    relation : Ibis table
        The sample, by the name that it will have. To refer to it reads no data; `engine.fetch` has it drawn.
    """

    def __init__(
        self,
        rows: Rows,
        backend: ibis.BaseBackend,
        *,
        person: str,
        limits: Limits,
        columns: Mapping[str, Declared],
    ) -> None:
        self._rows = rows
        self._backend = backend
        self._person = person
        assert limits.rows is not None  # noqa: S101
        self._limit: int = limits.rows
        self._declared = {
            name: one for name, one in columns.items() if isinstance(one, Bounds | Keys) and name != person
        }
        self._lock = threading.Lock()
        self._is_drawn = False
        name = f"discreet_{uuid4().hex}"
        kinds = {
            **rows.schema(),
            **{self.integer_name(one): _integer_kind(of) for one, of in self._declared.items()},
        }
        self.relation = ops.DatabaseTable(name, sch.Schema(kinds), backend, ops.Namespace()).to_expr()
        await_table(name, self)

    def integer_name(self, column: str) -> str:
        """Return the name of the integer that lies beside a declared column."""
        name = f"integer_{list(self._declared).index(column)}"
        while name in self._rows.columns:  # of the user; what `_drawn` names itself begins otherwise
            name += "_"
        return name

    def draw(self) -> None:
        """Draw the sample, unless it was drawn: with a salt of its own, once for all threads."""
        with self._lock:
            if not self._is_drawn:
                keep(self.relation.op().name, self._drawn(), self._backend)
                self._is_drawn = True

    def _drawn(self) -> Rows:
        """Return the rows that stay, in the columns of `relation`."""
        rows = self._rows.filter(self._rows[self._person].notnull())
        inner, selected = {self._person: PERSON}, {PERSON: rows[self._person]}
        for place, name in enumerate(rows.columns):
            if name == self._person:
                continue
            inner[name] = measure_name(place)
            selected[measure_name(place)] = _same_where_equal(rows[name])
            if public_type(rows[name].type()) is Type.OTHER:  # a request can tell only whether it is there
                inner[name] = f"other_{place}"
                selected |= {inner[name]: rows[name], measure_name(place): rows[name].isnull()}
        drawn = sampled(rows.select(**selected), self._limit, fresh_salt())
        for name, declared in self._declared.items():
            drawn = _with_integer(drawn, inner[name], self.integer_name(name), declared)
        columns = {name: drawn[inner[name]] for name in rows.columns}
        integers = {name: drawn[name] for name in map(self.integer_name, self._declared)}
        return drawn.select(**columns, **integers)


def _with_integer(rows: Rows, column: str, integer: str, declared: Bounds | Keys) -> Rows:
    """Add the integer on the grid of a column with bounds, or the number of a declared key."""
    kind = _integer_kind(declared)
    if isinstance(declared, Bounds):
        return rows.mutate(**{integer: steps(rows[column], declared).cast(kind)})
    listed = _numbered_keys(declared)
    joined = rows.left_join(listed, rows[column] == listed[_VALUE])
    number = joined[_NUMBER]
    if declared.has_null:
        number = ibis.ifelse(joined[column].isnull(), declared.values.index(None), number)
    return joined.select(*rows.columns, **{integer: number.cast(kind)})


def is_bounded_ahead(table: Table) -> bool:
    """Tell whether a table holds at most so many rows of a person as its limits say."""
    return table._sample is not None


def needs_no_bounding(relation: Relation, tables: Mapping[str, Table]) -> bool:
    """Tell whether a relation maps each row of a table that is bounded ahead to at most one row."""
    while isinstance(relation, Filter | Derive | Project):
        relation = relation.source
    return isinstance(relation, Source) and is_bounded_ahead(tables[relation.table])


def totals(plan: Plan, tables: Mapping[str, Table]) -> Rows | None:
    """Return the totals of a plan over a table that is bounded ahead, as a plain GROUP BY over integers.

    It has the columns of `contributions.totals`. None where the plan asks for more than conditions on the
    rows, keys, counts and sums of columns: then the usual way serves, with `needs_no_bounding`.
    """
    relation, conditions = plan.source, []
    while isinstance(relation, Filter):
        conditions.append(relation.condition)
        relation = relation.source
    if not isinstance(relation, Source) or not is_bounded_ahead(tables[relation.table]):
        return None
    if not all(isinstance(measure, CountRows | CountNonNull | Sum) for measure in plan.measures):
        return None
    table = tables[relation.table]
    if not all(_is_ready(table, part) for part in (*plan.keys, *plan.measures)):
        return None
    sample = cast("Sample", table._sample)
    rows = sample.relation
    for condition in conditions:
        rows = rows.filter(compiled(condition, {name: rows[name] for name in table.schema}))
    numbers = [sample.integer_name(key.column) for key in plan.keys]
    for key, number in zip(plan.keys, numbers, strict=True):
        rows = rows.filter(_is_asked(rows[number], key, cast("Keys", table.columns[key.column])))
    added = {ROWS: rows.count().cast("int64")}
    for place, measure in enumerate(plan.measures):
        if not isinstance(measure, CountRows):
            added[measure_name(place)] = bounded_total(_summand(rows, table, measure))
    if not numbers:
        return rows.agg(**added)
    grouped = rows.group_by(numbers).agg(**added)
    for place, (key, number) in enumerate(zip(plan.keys, numbers, strict=True)):
        listed = _numbered_keys(cast("Keys", table.columns[key.column]), every=True)
        joined = grouped.join(listed, grouped[number] == listed[_NUMBER])
        grouped = joined.select(
            *(name for name in grouped.columns if name != number), **{key_name(place): joined[_VALUE]}
        )
    return grouped


def _is_ready(table: Table, part: GroupKey | Measure) -> bool:
    """Tell whether the integer that lies beside a column is the one that a key or a measure needs."""
    if isinstance(part, CountRows) or (isinstance(part, CountNonNull) and part.bounds is None):
        return True
    assert not isinstance(part, CountPersons | Moment)  # noqa: S101
    declared = table.columns.get(part.column)
    if isinstance(part, CountNonNull | Sum):
        return isinstance(declared, Bounds) and part.bounds is not None and declared.contains(part.bounds)
    return isinstance(declared, Keys) and part.column != table.person


def _summand(rows: Rows, table: Table, measure: Measure) -> Value:
    """Return what a row adds to a measure; NULL, which no sum counts, where it has nothing to add."""
    assert isinstance(measure, CountNonNull | Sum)  # noqa: S101
    if measure.bounds is None:
        return rows[measure.column].notnull().cast("int64")
    index = rows[cast("Sample", table._sample).integer_name(measure.column)]
    if isinstance(measure, CountNonNull):
        return index.notnull().cast("int64")
    if measure.bounds != table.columns[measure.column]:
        inside = clipped(index.cast("int64"), measure.bounds)
        index = ibis.ifelse(index.isnull(), ibis.null("int64"), inside)
    return index - ibis.literal(measure.center_steps, type="int64") if measure.center_steps else index


def _is_asked(number: Column, key: GroupKey, declared: Keys) -> Value:
    if key.values == declared:
        return number.notnull()
    place = {value: number for number, value in enumerate(declared.values)}
    asked = [place[value] for value in key.values.values]
    if len(asked) <= 256:
        return number.isin(asked)
    listed = ibis.memtable(pyarrow.table({"asked": pyarrow.array(asked, pyarrow.int64())}))
    return number.cast("int64").isin(listed["asked"])


def _numbered_keys(keys: Keys, *, every: bool = False) -> Rows:
    """Return declared keys with their numbers; NULL only if every key is wanted."""
    kinds = {
        Type.INTEGER: pyarrow.int64(),
        Type.TEXT: pyarrow.string(),
        Type.DATE: pyarrow.date32(),
        Type.BOOLEAN: pyarrow.bool_(),
    }
    listed = [(value, place) for place, value in enumerate(keys.values) if every or value is not None]
    values, numbers = zip(*listed, strict=True)
    return ibis.memtable(
        pyarrow.table(
            {
                _VALUE: pyarrow.array(values, kinds[keys.type]),
                _NUMBER: pyarrow.array(numbers, pyarrow.int64()),
            }
        )
    )


def _integer_kind(declared: Declared) -> dt.DataType:
    if isinstance(declared, Keys):
        return dt.int16 if len(declared) < _SMALL else dt.int32
    assert isinstance(declared, Bounds)  # noqa: S101
    largest = max(abs(declared.lower_steps), abs(declared.upper_steps))
    return dt.int32 if largest < 1 << 31 else dt.int64


def _same_where_equal(column: Column) -> Value:
    """Return a column in which equal values are the same: minus zero is zero."""
    if not column.type().is_floating():
        return column
    return ibis.ifelse(column == 0, double(0).cast(column.type()), column)
