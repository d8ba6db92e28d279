"""How the rows of a table compare with its declaration: counted in the engine, for its owner alone.

Nothing here is private in the sense of this package, and nothing of it may reach an analyst: no request can
name it, and the door never calls it. Up to four statements run, however many columns there are: what is
stored, what is read, what each person has, and whose rows are whose.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import ibis
from ibis.expr.types import BooleanValue, Column, StringValue, Value
from ibis.expr.types import Table as Rows

from discreet.data.engines.base import count_present, double, fetch
from discreet.data.language.declarations import EACH_ROW, Bounds, Dates, Declared, Keys
from discreet.data.language.types import Type
from discreet.data.reading.lost import Lost
from discreet.data.reading.written_forms import ALL_FORMS
from discreet.data.tables.check_report import Check, ColumnCheck
from discreet.data.tables.check_words import REPLACEMENT, column_findings, group_findings, row_findings
from discreet.errors import ParameterError
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["checked_rows"]

_LETTERS = "".join(map(chr, [*range(0x41, 0x5B), *range(0xC0, 0x180)]))
_CAPITALS = "".join(one for one in _LETTERS if len(one.lower()) == 1 and one.lower() != one)
_DAY = datetime.timedelta(days=1)


def checked_rows(table: Table) -> Check:
    """Return how the rows of a table compare with its declaration. Exact, for the owner alone."""
    if table._through is not None and table._ownership is None:
        raise ParameterError("person", "is not known without the other table", "curator.tables[…].check()")
    stored = count_present(table._opened, table._backend)
    found = _read(table)
    lost = table.lost() or Lost()
    columns, findings = [], []
    for place, name in enumerate(table._stored.columns):
        counts = found.of(place)
        one = _column(table, name, counts, rows=found.rows, stored=stored[place], lost=lost)
        columns.append(one)
        findings += column_findings(one, table, counts, lost)
    nobody = _nobody(table, columns, found.rows)
    shares = _shares(table)
    rows = row_findings(table, lost, {**shares, **nobody})
    return Check(
        rows=found.rows,
        persons=None if table.person is EACH_ROW else shares.get("persons", 0),
        columns=tuple(columns),
        findings=(*rows, *findings, *group_findings(table, shares)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What one statement counted: all rows, and something for each column."""

    rows: int
    counts: Mapping[str, int] = field(repr=False)

    def of(self, place: int) -> dict[str, int]:
        """Return what was counted of a column."""
        end = f"_{place}"
        return {name.removesuffix(end): one for name, one in self.counts.items() if name.endswith(end)}


def _read(table: Table) -> _Found:
    """Count what is read, in one statement for all columns."""
    rows = table._stored
    asked: dict[str, Value] = {"rows": rows.count()}
    for place, name in enumerate(rows.columns):
        for what, one in _questions(table, rows, name).items():
            asked[f"{what}_{place}"] = one
    counts = _one_row(rows.aggregate(**asked), table)
    return _Found(rows=counts["rows"], counts=counts)


def _questions(table: Table, rows: Rows, name: str) -> dict[str, Value]:
    column, declared = rows[name], table.columns.get(name)
    asked: dict[str, Value] = {"values": column.count()}
    conditions: dict[str, BooleanValue] = {}
    if isinstance(declared, Bounds):
        conditions = _of_bounds(column, declared)
    elif isinstance(declared, Dates):
        conditions = {"outside": _outside_days(column, declared)}
    elif isinstance(declared, Keys):
        known = [one for one in declared.values if one is not None]
        outside = ~column.isin(known)
        conditions = {"outside": outside}
        asked["used"] = column.nunique(where=column.isin(known))
        if column.type().is_string():
            conditions["near"] = outside & _folded(column).isin([_plain(str(one)) for one in known])
    if column.type().is_string():
        conditions["padded"] = column != column.strip()
        conditions["replaced"] = column.contains(REPLACEMENT)
        if name == table.person:
            conditions["blank"] = column.strip() == ""
            asked |= {"distinct": column.nunique(), "folded": _folded(column).nunique()}
        elif declared is None:
            conditions |= {form: column.re_search(pattern) for form, pattern in ALL_FORMS.items()}
    return asked | {what: rows.count(where=condition) for what, condition in conditions.items()}


def _of_bounds(column: Column, bounds: Bounds) -> dict[str, BooleanValue]:
    kind = column.type()
    if kind.is_boolean() or kind.is_integer():
        number: Value = column.cast("int64")
        least, most = -(-bounds.lower // 1), bounds.upper // 1
        return {"below": number < int(least), "above": number > int(most)}
    number = column.cast("float64")
    is_number = ~number.isnan()
    return {
        "below": is_number & (number < double(float(bounds.lower))),
        "above": is_number & (number > double(float(bounds.upper))),
        "nan": number.isnan(),
        "infinite": number.isinf(),
    }


def _outside_days(column: Column, days: Dates) -> BooleanValue:
    kind = column.type()
    zone = "+00:00" if kind.is_timestamp() and kind.timezone is not None else ""

    def moment(day: datetime.date) -> Value:
        text = f"{day}" if kind.is_date() else f"{day} 00:00:00{zone}"
        return ibis.literal(text).cast(kind)

    early = column < moment(days.first)
    return early if days.last == datetime.date.max else early | (column >= moment(days.last + _DAY))


def _folded(text: StringValue) -> StringValue:
    """Return a text without blanks at its ends, in small letters of Latin alphabets, on all engines alike."""
    return text.strip().translate(_CAPITALS, _CAPITALS.lower())


def _plain(text: str) -> str:
    return text.strip().translate(str.maketrans(_CAPITALS, _CAPITALS.lower()))


def _column(
    table: Table, name: str, counts: Mapping[str, int], *, rows: int, stored: int, lost: Lost
) -> ColumnCheck:
    unreadable = stored - counts["values"] + lost.values.get(name, 0)
    declared = table.columns.get(name)
    return ColumnCheck(
        name=name,
        declared="person" if name == table.person else _words(declared),
        values=counts["values"],
        missing=rows - counts["values"] - unreadable,
        unreadable=unreadable,
        clipped=counts["below"] + counts["above"] if isinstance(declared, Bounds) else None,
        outside=counts["outside"] if isinstance(declared, Keys | Dates) else None,
    )


def _words(declared: Declared | None) -> str:
    if isinstance(declared, Keys):
        return f"{len(declared.values)} keys"
    if isinstance(declared, Type):
        return declared.value
    return "" if declared is None else repr(declared)


def _shares(table: Table) -> dict[str, int]:
    """Count persons, and those who have more rows, or rows in more groups, than the limits allow."""
    if not isinstance(table.person, str):
        return {}
    rows, limits = table._all_rows, table.limits
    owned = rows.filter(rows[table.person].notnull()).select(
        person_=rows[table.person],
        **{f"key_{place}_": rows[name] for place, name in enumerate(_grouped(table))},
    )
    each = owned.group_by("person_").agg(n_=owned.count())
    if limits.rows is not None:
        excess = ibis.greatest(each.n_ - limits.rows, 0)
        counts = {"persons": each.count(), "over_rows": each.count(where=each.n_ > limits.rows)}
        return _one_row(each.aggregate(**counts, cut_rows=excess.sum()), table)
    parts = [each.aggregate(what=ibis.literal("persons"), over=each.count())]
    for place, _ in enumerate(_grouped(table)):
        assert limits.groups is not None and limits.rows_per_group is not None  # noqa: S101, PT018
        key = f"key_{place}_"
        cells = owned.group_by(["person_", key]).agg(n_=owned.count())
        groups = cells.group_by("person_").agg(n_=cells.count())
        parts += [
            _labeled(groups, f"groups_{place}", limits.groups),
            _labeled(cells, f"cells_{place}", limits.rows_per_group),
        ]
    listed = fetch(ibis.union(*parts, distinct=False) if parts[1:] else parts[0], table._backend).to_pylist()
    return {row["what"]: int(row["over"]) for row in listed}


def _grouped(table: Table) -> list[str]:
    """Return the columns that questions group by: those with declared keys."""
    return [name for name, declared in table.columns.items() if isinstance(declared, Keys)]


def _labeled(each: Rows, what: str, limit: int) -> Rows:
    return each.aggregate(what=ibis.literal(what), over=each.count(where=each.n_ > limit))


def _nobody(table: Table, columns: Sequence[ColumnCheck], rows: int) -> dict[str, int]:
    """Count rows that belong to nobody: without a person, without a parent row, or with several persons."""
    if table._ownership is None:
        named = [one.values for one in columns if one.name == table.person]
        return {"unnamed": rows - named[0]} if named else {}
    reached = table._ownership.reached
    found = reached.rows
    several = found[reached.least] != found[reached.greatest]
    counts = _one_row(found.aggregate(n=found.count(), several=found.count(where=several)), table)
    return {"orphans": rows - counts["n"], "several": counts["several"]}


def _one_row(counts: Rows, table: Table) -> dict[str, int]:
    (row,) = fetch(counts, table._backend).to_pylist()
    return {name: int(number or 0) for name, number in row.items()}
