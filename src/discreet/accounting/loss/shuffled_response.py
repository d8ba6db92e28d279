"""Shuffled answers to a yes-or-no question: the exact law of the count, for every way to fill the crowd.

Of the shuffled reports only the number of yeses counts. It depends on how many of the others, m, hold a yes,
and no one m is the worst at every epsilon; so the profile is the largest over all m. Where people are many, m
is taken in blocks: whoever is told the reports of those by whom the members of a block differ faces one law
for the whole block. Proofs: docs/proofs/shuffled_response.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.finite import TwoWayPair, broken_line, exact_pair
from discreet.accounting.loss.pair import BoundedPair, Pair, finite_pair

__all__ = ["MOST_PEOPLE", "response_pair"]

Array = NDArray[np.float64]

MOST_PEOPLE = 10**5
"""Beyond, the sums of products take more than a second, and the general bound by clones serves."""
_REACH = 5.2
"""Beyond 5.2 sqrt(n) of its mean a sum of n bits has less than 2 exp(-2 * 5.2^2) < 1e-23."""
_OUTSIDE = 1e-22
_GROWTH = 0.06  # how fast blocks grow with their distance from the nearest end
_MOST_CORNERS, _SHOWN = 500, 16
_ROUNDING = 2e-11
"""More than the relative error of a mass: some 10,000 ratios in a row, and a sum of as many products."""

_LOSS_ROUNDING = 1e-14
"""More than a logarithm of a ratio of neighbors is off by: a dozen roundings, at any distance."""


class _Count(NamedTuple):
    """The law of a count around its mean."""

    first: int
    masses: Array


@lru_cache(maxsize=16)
def response_pair(truth: Fraction, people: int) -> Pair:
    """Return the pair of `people` shuffled answers, each true with probability `truth` > 1/2."""
    bit, crowds = _Bit(float(truth), float(1 - truth)), list(_crowds(people))
    corners = _corners([_reports(bit, others, ones) for others, ones in crowds[:_SHOWN]])
    heights = np.zeros(len(corners))
    for others, ones in crowds:
        law = _reports(bit, others, ones)
        heights = np.maximum(heights, _profile(law.yes, law.no, corners))
        heights = np.maximum(heights, _profile(law.no[::-1], law.yes[::-1], corners))
    points = []
    for corner, height in zip(
        map(Fraction, corners.tolist()), np.minimum(heights, 1.0).tolist(), strict=True
    ):
        points += [(corner, Fraction(height)), (1 / corner, 1 - (1 - Fraction(height)) / corner)]
    # Attained up to the width of blocks: no other bound is worth looking for.
    return BoundedPair(exact_pair(broken_line(points)), _attained(bit, people), attained=True)


def _corners(laws: list[_Reports]) -> Array:
    """Return ratios at which the profile is looked at: those of several crowds, or some of them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.concatenate([one for law in laws for one in (law.yes / law.no, law.no / law.yes)])
    found = np.unique(ratios[np.isfinite(ratios) & (ratios > 1)])
    return np.concatenate([[1.0], found[:: ceil(len(found) / _MOST_CORNERS)], found[-1:]])


def _attained(bit: _Bit, people: int) -> Pair:
    """Return what a crowd without a yes has at least; at the ends of a cut range, neighbors are missing."""
    law, count = _reports(bit, people - 1, 0), _binomial(people - 1, bit.turned)
    first, last = count.first > 0, count.first + len(count.masses) < people
    inner = slice(int(first), len(law.yes) - int(last))
    yes, no = law.yes[inner], law.no[inner]
    losses = np.log(yes / no)
    less = _LOSS_ROUNDING * (1 + np.abs(losses))
    return TwoWayPair(
        finite_pair(yes * (1 - _ROUNDING), no, losses=losses - less),
        finite_pair(no * (1 - _ROUNDING), yes, losses=-losses - less),
    )


class _Bit(NamedTuple):
    """The probabilities of two reports, each with all its digits: next to 1 the other would lose its own."""

    one: float
    other: float

    @property
    def turned(self) -> _Bit:
        return _Bit(self.other, self.one)


class _Reports(NamedTuple):
    """The law of the number of yeses if the person holds a yes, and if not."""

    yes: Array
    no: Array


def _crowds(people: int) -> Iterator[tuple[int, int]]:
    """Cover all numbers of yeses among the others, up to half: (others not told, yeses among them)."""
    start, half = 0, (people - 1) // 2
    while start <= half:
        more = min(floor(_GROWTH * start), half - start)
        yield people - 1 - more, start
        start += more + 1


def _reports(bit: _Bit, others: int, ones: int) -> _Reports:
    one, two = _binomial(ones, bit), _binomial(others - ones, bit.turned)
    count = np.convolve(one.masses, two.masses)
    return _Reports(np.convolve(count, bit.turned), np.convolve(count, bit))


@lru_cache(maxsize=512)
def _binomial(count: int, bit: _Bit) -> _Count:
    """Return the binomial law by the ratios of neighbors, from its mode outward."""
    mode = min(floor((count + 1) * bit.one), count)
    reach = ceil(_REACH * sqrt(max(count, 1))) + 2
    first, last = max(0, mode - reach), min(count, mode + reach)
    odds = bit.one / bit.other
    up, down = np.arange(mode, last, dtype=np.float64), np.arange(mode, first, -1, dtype=np.float64)
    above = np.cumprod((count - up) / (up + 1) * odds)
    below = np.cumprod(down / (count - down + 1) / odds)
    masses = np.concatenate([below[::-1], [1.0], above])
    return _Count(first, masses / masses.sum())


def _profile(p: Array, q: Array, corners: Array) -> Array:
    """Return sum max(0, p - corner q) from above; outcomes come by rising ratio, being log-concave."""
    above, under = (np.append(np.cumsum(law[::-1])[::-1], 0.0) for law in (p, q))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.maximum.accumulate(np.nan_to_num(p / q, nan=0.0, posinf=np.inf))
    place = np.searchsorted(ratios, corners, side="right")
    # Any set of outcomes gives a lower bound; the best of the neighbors is the sum, in spite of rounding.
    near = np.clip(place[:, None] + np.arange(-2, 3), 0, len(p))
    sums = (above[near] - corners[:, None] * under[near]).max(axis=1)
    slack = _ROUNDING * (above[place] + corners * under[place])
    return np.asarray(sums + slack + _OUTSIDE)
