"""Whether an answer is the exact one: columns, rows, order, and values up to the grid."""

from __future__ import annotations

import datetime
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import sqlglot
from sqlglot import exp
from tests.corpus.exact import Answer
from tests.corpus.reading import CorpusQuery

from discreet.curator.release.release import Release

ROUNDING = 1e-6
"""Relative: decimals are stored exactly, but doubles are summed in another order."""
CLOSE, ON_THE_GRID = 0.25, 0.1
"""Relative: what is chosen from a grid of its own, within the interval and a little beyond it."""
ON_A_GRID = re.compile(
    r"\b(MEDIAN|QUANTILE\w*|PERCENTILE\w*|APPROX_QUANTILE\w*|MIN|MAX|STDDEV\w*|VAR\w*|CORR|COVAR\w*|REGR\w*|"
    r"TRIMMED_MEAN|SMOOTH\w*|AVG|KURTOSIS|SKEWNESS)\s*\(",
    re.IGNORECASE,
)


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
    for item, found, expected in zip(_items(outermost, len(names)), names, exact.names, strict=True):
        if (
            item is not None
            and isinstance(item, exp.Alias | exp.Column)
            and found.lower() != expected.lower()
        ):
            return f"a column is called {found}, expected {expected}"
    rows = [tuple(map(_plain, row)) for row in zip(*(columns[name] for name in names), strict=True)]
    wanted = [tuple(map(_plain, row)) for row in exact.rows]
    ends = [(columns.get(f"{name}_lower"), columns.get(f"{name}_upper")) for name in names]
    return _compared(query, rows, wanted, ends) or _order(query, outermost, rows, wanted)


def _is_an_end(name: str, columns: dict[str, Sequence[object]]) -> bool:
    return any(name.endswith(end) and name.removesuffix(end) in columns for end in ("_lower", "_upper"))


def _in_order(names: list[str], expected: tuple[str, ...]) -> list[str]:
    """Return the columns as SELECT lists them: an answer has the keys in the order of GROUP BY, and first."""
    left = {name.lower(): name for name in names}
    found = [left.pop(name.lower(), None) for name in expected]
    rest = iter(left.values())
    return [next(rest) if name is None else name for name in found]


def _items(outermost: exp.Expression, count: int) -> list[exp.Expression | None]:
    """Return what SELECT lists, if it lists one thing for each column."""
    while isinstance(outermost, exp.SetOperation | exp.Subquery):
        outermost = outermost.this
    items = list(outermost.expressions)
    return items if len(items) == count else [None] * count


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


def _compared(query: CorpusQuery, rows: list, wanted: list, ends: list) -> str:
    """Match every exact row with one of the answer; what is left over must be groups without rows."""
    buckets: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        buckets[_words(row)].append(place)
    for expected in wanted:
        near = next(
            (
                place
                for place in buckets[_words(expected)]
                if all(
                    _near(query, found, value, ends[k], place)
                    for k, (found, value) in enumerate(zip(rows[place], expected, strict=True))
                )
            ),
            None,
        )
        if near is None:
            candidates = [rows[place] for place in buckets[_words(expected)]][:3]
            return f"no row {expected}; the nearest of {len(rows)}: {candidates or rows[:3]}"
        buckets[_words(expected)].remove(near)
    for left in (place for places in buckets.values() for place in places):
        if not _holds_nothing(rows[left], ends, left):
            return f"a row too many: {rows[left]}, {len(rows)} rows for {len(wanted)}"
    return ""


def _holds_nothing(row: tuple[object, ...], ends: list, place: int) -> bool:
    """Return whether a group has no rows: counts and sums are 0, and nothing is known of the rest."""
    measured = [(value, *one) for value, one in zip(row, ends, strict=True) if one[0] is not None]
    return bool(measured) and all(
        value in {0.0, None} or upper[place] - lower[place] >= abs(value) for value, lower, upper in measured
    )


def _words(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return what must be the same: texts, truth values, days."""
    return tuple(value if isinstance(value, bool | str | datetime.date) else "" for value in row)


def _near(
    query: CorpusQuery, found: object, expected: object, ends: tuple[object, object], place: int
) -> bool:
    if not isinstance(expected, float):
        return found == expected or (expected is None and found == 0.0 and ends[0] is not None)
    if not isinstance(found, float):
        return False
    error, size = abs(found - expected), max(1.0, abs(expected))
    if error <= max(ROUNDING, query.within) * size:
        return True
    if not ON_A_GRID.search(query.sql):
        return False
    lower, upper = ends
    inside = lower is not None and lower[place] <= expected <= upper[place]
    return error <= (max(CLOSE * size, 1.0) if inside else ON_THE_GRID * size)


def _order(query: CorpusQuery, outermost: exp.Expression, rows: list, wanted: list) -> str:
    """Where ORDER BY names a column of the answer, that column must come in the same order."""
    order = outermost.args.get("order")
    if order is None or len(rows) != len(wanted):
        return ""
    items = _items(outermost, len(wanted[0]) if wanted else 0)
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
    for row, expected in zip(rows, wanted, strict=True):
        if not _near(query, row[place], expected[place], (None, None), 0):
            return f"the order differs: {row[place]} where {expected[place]} should be"
    return ""
