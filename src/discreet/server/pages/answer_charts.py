"""Answers as charts: a mark for each group with its interval, as numbers that a template draws in SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, isfinite, log10
from typing import Any

from discreet.records import dataclass

__all__ = [
    "MOST_GROUPS",
    "Chart",
    "Mark",
    "Tick",
    "answer_columns_of",
    "chart_of",
    "charts_of",
    "ticks_between",
]

MOST_GROUPS = 60
"""How many groups a chart shows."""

_WIDTH = 100.0
_TICKS = 5
_LARGEST = 1e150


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A group of a chart; places are from 0 to 100.

    Attributes
    ----------
    group : str
        Its keys.
    value, lower, upper : float
        The answer, and its interval.
    place, start, end : float
        Where they are drawn.
    """

    group: str
    value: float
    lower: float
    upper: float
    place: float
    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A number on the axis, and its place from 0 to 100."""

    number: float
    place: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One output of an answer.

    Attributes
    ----------
    title : str
        What it shows: the name of the output, or of a table of counts.
    marks : tuple of Mark
        The groups, as many as are drawn.
    ticks : tuple of Tick
        Of the axis.
    left_out : int
        How many more groups the table has.
    """

    title: str
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    left_out: int


def answer_columns_of(content: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the key columns and the outputs of an answer."""
    rows, outputs = content["rows"], list(content["label"]["outputs"])
    taken = {*outputs, *(f"{one}{end}" for one in outputs for end in ("_lower", "_upper"))}
    keys = [name for name in rows[0] if name not in taken] if rows else []
    return keys, [one for one in outputs if not rows or one in rows[0]]


def charts_of(content: Mapping[str, Any]) -> list[Chart]:
    """Return a chart for every output whose answers and intervals are numbers."""
    rows = content["rows"]
    keys, outputs = answer_columns_of(content)
    named = [
        (", ".join("no value" if row[key] is None else str(row[key]) for key in keys), row) for row in rows
    ]
    return [chart for one in outputs if (chart := chart_of(one, one, named)) is not None]


def chart_of(title: str, output: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Chart | None:
    """Return the chart of an output for rows that have names; None if no row has numbers."""
    read = [(name, *found) for name, row in rows if (found := _numbers(output, row)) is not None]
    if not read:
        return None
    drawn = read[:MOST_GROUPS]
    ticks = ticks_between(min(0.0, *(one[2] for one in drawn)), max(0.0, *(one[3] for one in drawn)))
    low, high = ticks[0], ticks[-1]

    def place(number: float) -> float:
        return round(_WIDTH * (number - low) / (high - low), 3)

    return Chart(
        title=title,
        marks=tuple(
            Mark(
                group=group or output,
                value=value,
                lower=lower,
                upper=upper,
                place=place(value),
                start=place(lower),
                end=place(upper),
            )
            for group, value, lower, upper in drawn
        ),
        ticks=tuple(Tick(number=one, place=place(one)) for one in ticks),
        left_out=len(read) - len(drawn),
    )


def _numbers(output: str, row: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """Return answer and interval, the latter wide enough to hold the former; None if one is not a number."""
    found = [row.get(name) for name in (output, f"{output}_lower", f"{output}_upper")]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in found):
        return None
    value, lower, upper = (float(one) for one in found)  # type: ignore[arg-type]
    if not all(abs(one) < _LARGEST for one in (value, lower, upper)):
        return None
    return value, min(lower, value), max(upper, value)


def ticks_between(low: float, high: float) -> list[float]:
    """Return round numbers, at least two, of which the first and last enclose a range.

    Examples
    --------
    >>> ticks_between(0.0, 4810.0)
    [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0]
    """
    span = high - low
    if not (isfinite(span) and span > 1 / _LARGEST):
        return [min(low, 0.0), max(high, 1.0)]
    rough = span / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * (1 - 1e-9))
    first = floor(low / step)
    last = -floor(-high / step)
    return [round(one * step, 12) for one in range(first, last + 1)]
