"""Whether an answer is the exact one: columns, rows, order, and values.

How near a value must be is decided for each column by what it holds (`column_kinds`).
"""

from __future__ import annotations

import datetime
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import sqlglot
from sqlglot import exp
from tests.corpus.column_kinds import MOMENTS, ROUNDING, Holds, Ranked, holds, items_of, ranked
from tests.corpus.exact import Answer
from tests.corpus.ranks import GRID, has_rank
from tests.corpus.reading import CorpusQuery
from tests.corpus.worlds import world

from discreet.curator.release.release import Release
from discreet.data import Bounds
from discreet.queries.binding.measures import LARGEST_WIDTH


def difference(query: CorpusQuery, release: Release, exact: Answer) -> str:
    """Return what is wrong with an answer, or nothing."""
    columns = release.columns()
    names = [name for name in columns if not _is_an_end(name, columns)]
    wanted_names = {name.lower() for name in exact.names}
    if len(names) > len(exact.names):  # the keys are always shown
        names = [name for name in names if name not in release.keys or name.lower() in wanted_names]
    if len(names) != len(exact.names):
        return f"columns {names}, expected {list(exact.names)}"
    outermost = sqlglot.parse_one(query.exact_sql, read="duckdb")
    names = _in_order(names, exact.names)
    items = items_of(outermost, len(names))
    for item, found, expected in zip(items, names, exact.names, strict=True):
        if (
            item is not None
            and isinstance(item, exp.Alias | exp.Column)
            and found.lower() != expected.lower()
        ):
            return f"a column is called {found}, expected {expected}"
    compared = [
        _Compared(
            holds=kind,
            within=query.within,
            ranked=one,
            step=0.0 if one is None else _step(query, one),
            ends=(columns.get(f"{name}_lower"), columns.get(f"{name}_upper")),
        )
        for name, kind, one in zip(names, holds(items), map(ranked, items), strict=True)
    ]
    rows = [tuple(map(_plain, row)) for row in zip(*(columns[name] for name in names), strict=True)]
    wanted = [tuple(map(_plain, row)) for row in exact.rows]
    return _compared(compared, rows, wanted, exact) or _order(compared, outermost, rows, wanted, exact)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """How a column is compared."""

    holds: Holds
    within: float
    ranked: Ranked | None
    step: float
    ends: tuple[Sequence[float] | None, Sequence[float] | None]

    def near(self, found: object, expected: object, values: Sequence[float] | None) -> bool:
        """Tell whether a value is the exact one."""
        if self.ranked is not None and values is not None and isinstance(found, float) and values:
            return has_rank(found, self.ranked.share, values, self.step)
        if not isinstance(expected, float):
            empty = expected is None and found == 0.0 and self.ends[0] is not None
            return found == expected or empty
        if not isinstance(found, float):
            return False
        error = abs(found - expected)
        if self.holds is Holds.MOMENT:
            return error <= MOMENTS * max(1.0, abs(expected))
        return error <= max(ROUNDING, self.within) * max(ROUNDING, abs(expected))

    def is_empty(self, value: object, place: int) -> bool:
        """Tell whether a value is that of no rows: 0 for counts and sums, nothing known of the rest."""
        lower, upper = self.ends
        if value in {0.0, None} or lower is None or upper is None:
            return True
        return self.holds is not Holds.COUNT_OR_SUM and upper[place] - lower[place] >= abs(value)  # type: ignore[arg-type]


def _step(query: CorpusQuery, one: Ranked) -> float:
    """Return the step of the grid that a quantile is chosen from: at most this for declared columns."""
    name = one.operand.name if isinstance(one.operand, exp.Column) else ""
    for table in world(query.world).private.values():
        declared = table.columns.get(name)
        if isinstance(declared, Bounds):
            width = declared.upper - declared.lower
            return float(declared.step if width / declared.step <= LARGEST_WIDTH else width * GRID)
    return 1.0


def _is_an_end(name: str, columns: dict[str, Sequence[object]]) -> bool:
    return any(name.endswith(end) and name.removesuffix(end) in columns for end in ("_lower", "_upper"))


def _in_order(names: list[str], expected: tuple[str, ...]) -> list[str]:
    """Return the columns as SELECT lists them: an answer has the keys in the order of GROUP BY, and first."""
    left = {name.lower(): name for name in names}
    found = [left.pop(name.lower(), None) for name in expected]
    rest = iter(left.values())
    return [next(rest) if name is None else name for name in found]


def _plain(value: object) -> object:
    """Return a value as both sides have it: floats for numbers, dates for midnights, None for nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.datetime64 | datetime.datetime):
        moment = value if isinstance(value, datetime.datetime) else value.astype("datetime64[us]").item()
        moment = moment.replace(tzinfo=None)
        return moment.date() if moment.time() == datetime.time() else moment
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return None if math.isnan(value) else float(value)


def _compared(columns: list[_Compared], rows: list, wanted: list, exact: Answer) -> str:
    """Match every exact row with one of the answer; what is left over must be groups without rows."""
    buckets: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        buckets[_words(row)].append(place)
    for number, expected in enumerate(wanted):
        alike = buckets[_words(expected)]
        near = next((place for place in alike if _is_row(columns, rows[place], exact, number)), None)
        if near is None:
            return (
                f"no row {expected}; the nearest of {len(rows)}: {[rows[k] for k in alike][:3] or rows[:3]}"
            )
        alike.remove(near)
    for left in (place for places in buckets.values() for place in places):
        measured = [
            (one, value) for one, value in zip(columns, rows[left], strict=True) if one.ends[0] is not None
        ]
        if not measured or not all(one.is_empty(value, left) for one, value in measured):
            return f"a row too many: {rows[left]}, {len(rows)} rows for {len(wanted)}"
    return ""


def _is_row(columns: list[_Compared], row: tuple[object, ...], exact: Answer, number: int) -> bool:
    expected, values = map(_plain, exact.rows[number]), exact.values[number]
    return all(
        column.near(found, value, values.get(place))
        for place, (column, found, value) in enumerate(zip(columns, row, expected, strict=True))
    )


def _words(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return what must be the same: texts, truth values, days."""
    return tuple(value if isinstance(value, bool | str | datetime.date) else "" for value in row)


def _order(
    columns: list[_Compared], outermost: exp.Expression, rows: list, wanted: list, exact: Answer
) -> str:
    """Where ORDER BY names a column of the answer, that column must come in the same order."""
    order = outermost.args.get("order")
    if order is None or len(rows) != len(wanted):
        return ""
    items = items_of(outermost, len(wanted[0]) if wanted else 0)
    first = order.expressions[0].this
    place = next(
        (
            k
            for k, item in enumerate(items)
            if item is not None
            and (
                first.sql() in {item.alias_or_name, item.sql(), item.unalias().sql()}
                or first.sql() == str(k + 1)
            )
        ),
        None,
    )
    if place is None:
        return ""
    for row, expected, values in zip(rows, wanted, exact.values, strict=True):
        if not columns[place].near(row[place], expected[place], values.get(place)):
            return f"the order differs: {row[place]} where {expected[place]} should be"
    return ""
