"""Sums, means, extremes and single values over the frames of a window, as numbers that can be possible.

If every group's number is within its ends, or missing where it may be, so is the result (proof: windows,
lemma 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.queries.outputs.possible_numbers import PossibleNumbers, divided
from discreet.queries.outputs.windows.window_frames import Frames
from discreet.queries.question.answer_windows import AnswerFunction

__all__ = [
    "counted_in_frames",
    "extreme",
    "mean_of",
    "picked",
    "place_in_frame",
    "sums_over",
    "whole_numbers",
]

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]
_SLACK = 2.0**-50


def whole_numbers(values: _Floats | _Places) -> PossibleNumbers:
    """Return public integers."""
    exact = np.asarray(values, np.float64)
    return PossibleNumbers(
        low=exact, value=exact, high=exact, null=np.zeros(exact.shape, np.bool_), whole=True
    )


def counted_in_frames(one: PossibleNumbers, start: _Places, end: _Places) -> PossibleNumbers:
    """Return how many numbers of each frame are present."""
    surely, released, possibly = (
        _between(flags.astype(np.float64), start, end)
        for flags in (~one.null & (one.low <= one.high), ~np.isnan(one.value), one.low <= one.high)
    )
    return PossibleNumbers(
        low=surely, value=released, high=possibly, null=np.zeros(len(start), np.bool_), whole=True
    )


def sums_over(one: PossibleNumbers, start: _Places, end: _Places) -> PossibleNumbers:
    """Return sums of the numbers that are present; NULL where none is.

    Sums are taken as differences of cumulated ones, which are off by less than the slack for every number
    of the partition, times all magnitudes.
    """
    none = one.low > one.high
    low = np.where(none, 0.0, np.where(one.null, np.minimum(one.low, 0.0), one.low))
    high = np.where(none, 0.0, np.where(one.null, np.maximum(one.high, 0.0), one.high))
    missing = np.isnan(one.value)
    absent = _between((~missing).astype(np.float64), start, end) == 0
    surely = _between((~one.null).astype(np.float64), start, end) > 0
    nothing = _between((~none).astype(np.float64), start, end) == 0
    value = np.where(absent, np.nan, _between(np.where(missing, 0.0, one.value), start, end))
    return PossibleNumbers(
        low=np.where(nothing, np.inf, _end_sums(low, start, end, -1.0, whole=one.whole)),
        value=value,
        high=np.where(nothing, -np.inf, _end_sums(high, start, end, 1.0, whole=one.whole)),
        null=~surely,
        whole=one.whole,
    )


def mean_of(one: PossibleNumbers, total: PossibleNumbers, start: _Places, end: _Places) -> PossibleNumbers:
    """Return means of the numbers that are present.

    Where none can be missing, the sum divided by their public number; else between the extremes.
    """
    if not one.null.any():
        size = whole_numbers(end - start)
        return replace(divided(total, size), null=total.null)
    present = _between((~np.isnan(one.value)).astype(np.float64), start, end)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(present > 0, total.value / present, np.nan)
    low, high = _over(one.low, start, end, np.min, np.inf), _over(one.high, start, end, np.max, -np.inf)
    return PossibleNumbers(low=low, value=value, high=high, null=total.null)


def extreme(one: PossibleNumbers, start: _Places, end: _Places, *, largest: bool) -> PossibleNumbers:
    """Return the least or the largest of the numbers that are present; NULL where none is."""
    if not largest:
        found = extreme(
            replace(one, low=-one.high, value=-one.value, high=-one.low), start, end, largest=True
        )
        return replace(found, low=-found.high, value=-found.value, high=-found.low)
    sure = _over(np.where(one.null, -np.inf, one.low), start, end, np.max, -np.inf)
    either = ~(_between((~one.null).astype(np.float64), start, end) > 0)
    lowest = _over(one.low, start, end, np.min, np.inf)
    value = _over(np.where(np.isnan(one.value), -np.inf, one.value), start, end, np.max, -np.inf)
    return PossibleNumbers(
        low=np.where(either, lowest, sure),
        value=np.where(np.isinf(value), np.nan, value),
        high=_over(one.high, start, end, np.max, -np.inf),
        null=either,
        whole=one.whole,
    )


def picked(one: PossibleNumbers, places: _Places) -> PossibleNumbers:
    """Return the numbers at some places; NULL at -1."""
    none = places < 0
    at = np.where(none, 0, places)
    return PossibleNumbers(
        low=np.where(none, np.inf, one.low[at]),
        value=np.where(none, np.nan, one.value[at]),
        high=np.where(none, -np.inf, one.high[at]),
        null=none | one.null[at],
        whole=one.whole,
    )


def place_in_frame(function: AnswerFunction, parameter: int, frames: Frames) -> _Places:
    """Return the place that LAG, LEAD, FIRST_VALUE, LAST_VALUE or NTH_VALUE means, or -1."""
    here, start, end = np.arange(len(frames.rows)), frames.start, frames.end
    if function is AnswerFunction.LAG or function is AnswerFunction.LEAD:
        found = here - parameter if function is AnswerFunction.LAG else here + parameter
        return np.where((found >= frames.first) & (found < frames.beyond), found, -1)
    if function is AnswerFunction.LAST_VALUE:
        found = end - 1
    else:
        found = start + (parameter - 1 if function is AnswerFunction.NTH_VALUE else 0)
    return np.where((found < end) & (found >= start), found, -1)


def _between(values: _Floats, start: _Places, end: _Places) -> _Floats:
    cumulated = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(cumulated[end] - cumulated[start])


def _end_sums(values: _Floats, start: _Places, end: _Places, side: float, *, whole: bool) -> _Floats:
    """Return sums of ends, moved outward by more than their roundings amount to."""
    unbounded = np.isinf(values)
    finite = np.where(unbounded, 0.0, values)
    total = float(np.abs(finite).sum())
    found = _between(finite, start, end)
    if not (whole and total < 2.0**49):
        found = found + side * (len(values) + 2) * _SLACK * total
    endless = _between(unbounded.astype(np.float64), start, end) > 0
    return np.where(endless, side * np.inf, found)


def _over(
    values: _Floats, start: _Places, end: _Places, function: Callable[[_Floats], float], empty: float
) -> _Floats:
    """Return a function of each frame; frames that occur twice are worked out once."""
    known: dict[tuple[int, int], float] = {}
    found = np.empty(len(start))
    for place, ends in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        if ends not in known:
            known[ends] = float(function(values[ends[0] : ends[1]])) if ends[0] < ends[1] else empty
        found[place] = known[ends]
    return found
