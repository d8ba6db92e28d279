"""Coarser grids: the same range in fewer, wider steps.

Squares of fine steps, candidates for a quantile, and sums on the grids of products would be too many for
memory or budget. A coarser grid has a step that is 1, 2 or 5 times a power of ten of the declared one; its
ends are moved outward to the nearest multiples, so that no declared value is clipped; what takes the place
of NULL, NaN and infinity is rounded to it. Which values are present stays as declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from discreet.data.language.declarations import Bounds, MissingRule

__all__ = ["coarsened", "ends_at_most", "is_coarsened", "steps_at_most"]


def coarsened(bounds: Bounds, multiple: int) -> Bounds:
    """Return the bounds on a grid whose step is this many times wider."""
    if multiple == 1:
        return bounds
    step = bounds.step * multiple
    return Bounds(
        floor(bounds.lower / step) * step,
        ceil(bounds.upper / step) * step,
        step=step,
        nan=_rounded(bounds.nan, step),
        infinity=_rounded(bounds.infinity, step),
        null=_rounded(bounds.null, step),
    )


def is_coarsened(bounds: Bounds, declared: Bounds) -> bool:
    """Return whether bounds are what `coarsened` makes of declared ones."""
    multiple = bounds.step / declared.step
    return multiple.denominator == 1 and bounds == coarsened(declared, int(multiple))


def steps_at_most(bounds: Bounds, most: int) -> Bounds:
    """Return the finest of the coarsened bounds that span at most this many steps, which are 2 or more."""
    return next(
        coarser for coarser in _coarser(bounds) if coarser.upper_steps - coarser.lower_steps <= max(most, 2)
    )


def ends_at_most(bounds: Bounds, most: int) -> Bounds:
    """Return the finest of the coarsened bounds that lie within this many steps of zero, 1 or more."""
    return next(
        coarser
        for coarser in _coarser(bounds)
        if max(abs(coarser.lower_steps), abs(coarser.upper_steps)) <= most
    )


def _coarser(bounds: Bounds) -> Iterator[Bounds]:
    power = 1
    while True:
        yield from (coarsened(bounds, factor * power) for factor in (1, 2, 5))
        power *= 10


def _rounded(rule: MissingRule, step: Fraction) -> MissingRule:
    """Return a rule with its number, if it is one, at the nearest multiple of a step, halves upward."""
    return rule if isinstance(rule, str) else floor(rule / step + Fraction(1, 2)) * step
