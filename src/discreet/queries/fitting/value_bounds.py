"""Bounds that fit: a range of round numbers that holds most values, from noisy counts of values by size.

Every person counts with one of their rows, so that the noise is that of one row, whatever the limits of the
table are. On either side the bound is the innermost edge beyond which no more than the wanted share lies, as
far as noise can tell: no cell is left out because its own count could be noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor

from discreet.data import Bounds, Limits, Relation, Table, Type, col
from discreet.data.facts.limits import declared_limits
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.first_table import with_limits
from discreet.errors import ParameterError
from discreet.privacy.rational import show
from discreet.queries.fitting.size_counts import SizeCounts, counted_by_size
from discreet.queries.outputs.base import of_several
from discreet.queries.question.query import Query

__all__ = ["COVERAGE", "VALUE_EDGES", "bounds_in_words", "fitting_bounds", "values_query"]

COVERAGE = Fraction(99, 100)
"""The share of values that bounds should contain."""

_SIZES = tuple(digit * Fraction(10) ** power for power in range(-3, 13) for digit in (1, 2, 5))
_NEGATIVE = (*(-size for size in reversed(_SIZES)), Fraction(0))
VALUE_EDGES = (*_NEGATIVE, Fraction(0), *_SIZES)
"""Cells end before negative edges and before 0, and with 0 and positive edges: zeros have their own."""
_FINEST = 10_000
"""A grid has this many steps, or up to ten times as many."""
_DEVIATIONS = 3
"""How many standard deviations of noise are no value. Sums of empty cells wander: with one deviation, one in
six ranges would reach far into cells without any value."""
_NEAR = 4
"""A bound is near zero if it is at most a fourth of the other: then the range grows by a third at most."""
_LEAST = 4
"""How many standard deviations of all cells there must be values, for anything to be said."""


def values_query(relation: Relation, tables: Mapping[str, Table], column: str) -> Query:
    """Return the query for the number of persons by the size of a column in one of their rows."""
    if not is_single(relation, tables):
        relation = with_limits(relation, _one_row(declared_limits(relation, tables)))
    return counted_by_size(relation, col(column), VALUE_EDGES, strictly=len(_NEGATIVE))


def _one_row(limits: Limits) -> Limits:
    if limits.rows is not None:
        return Limits(rows=1)
    return Limits(groups=1, rows_per_group=1)


def fitting_bounds(values: SizeCounts, kind: Type, coverage: Fraction = COVERAGE) -> Bounds:
    """Return bounds that hold about the wanted share of values, on a grid that suits them."""
    first, last = _ends(values, coverage)
    lower, upper = _to_zero(Fraction(values.edges[first]), Fraction(values.edges[last]))
    step = Fraction(1) if kind is Type.INTEGER else _step(upper - lower)
    lower, upper = step * floor(lower / step), step * ceil(upper / step)
    return Bounds(lower, max(upper, lower + step), step=step)


def _to_zero(lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of which the one near zero is zero: the range is hardly wider, and clips less."""
    if 0 < _NEAR * lower <= upper:
        return Fraction(0), upper
    return (lower, Fraction(0)) if lower <= _NEAR * upper < 0 else (lower, upper)


def _ends(values: SizeCounts, coverage: Fraction) -> tuple[int, int]:
    """Return the places of the edges that are the bounds."""
    cells = len(values.counts)
    if values.total <= _LEAST * values.deviation(cells):
        raise ParameterError("the offer", "is too small: all counts may be noise", "a larger one")
    spare = float((1 - coverage) / 2) * values.total
    places = range(len(values.edges))
    uppers = (
        place
        for place in places
        if values.above(place) <= spare + _DEVIATIONS * values.deviation(cells - place - 1)
    )
    lowers = (
        place
        for place in reversed(places)
        if values.below(place) <= spare + _DEVIATIONS * values.deviation(place + 1)
    )
    first, last = next(lowers, places[0]), next(uppers, places[-1])
    while values.edges[first] >= values.edges[last]:  # all values are alike, or noise is large
        first, last = max(first - 1, places[0]), min(last + 1, places[-1])
    return first, last


def bounds_in_words(values: SizeCounts, column: str, bounds: Bounds, confidence: Fraction) -> str:
    """Say which bounds were bought, and what share of values may lie beyond them."""
    low, high = _outside(bounds)
    cells = len(values.counts)
    beyond = int(values.counts[:low].sum() + values.counts[cells - high :].sum())
    each = of_several(confidence, 2 * cells + 1)  # for all bounds at once, since noise chose these
    most = beyond + values.margin(low, each) + values.margin(high, each)
    least = values.total - values.margin(cells, each)
    share = min(1.0, max(0, most) / least) if least > 0 else 1.0
    tenths = ceil(1000 * share)  # of percents, upward: it is a bound
    about = max(0, beyond) / max(1, values.total)
    return (
        f"{column!r} from {show(bounds.lower)} to {show(bounds.upper)} in steps of {show(bounds.step)}, "
        f"bounds that were bought: about {about:.1%} of values are clipped, at most {tenths / 10:.1f}% at "
        f"{float(confidence):.0%}"
    )


def _outside(bounds: Bounds) -> tuple[int, int]:
    """Return how many of the first and of the last cells hold values beyond bounds, or at them."""
    zero = len(_NEGATIVE)
    low = sum(edge <= bounds.lower for edge in VALUE_EDGES[:zero])
    if bounds.lower > 0:
        low += sum(edge <= bounds.lower for edge in VALUE_EDGES[zero:])
    high = sum(edge >= bounds.upper for edge in VALUE_EDGES[zero:])
    if bounds.upper < 0:
        high += sum(edge >= bounds.upper for edge in VALUE_EDGES[:zero])
    return low, high


def _step(width: Fraction) -> Fraction:
    """Return the largest power of ten that divides a width into at least this many steps."""
    step = Fraction(10) ** 12
    while width / step < _FINEST:
        step /= 10
    return step
