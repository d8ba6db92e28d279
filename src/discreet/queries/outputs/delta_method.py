"""Intervals of ratios of smooth functions of noisy integers, by the law of the noise of first order.

Let f = A / B of the exact integers. For this f, A - f B is 0 of the exact integers, and of the released ones
it is the combination of the noises by its derivatives at the exact integers, which are fixed numbers, and a
remainder of second order. The law of the combination is known for the largest derivatives that are possible;
the remainder is bounded by second derivatives on a box that holds all exact integers, and by a bound on the
sum of all noises, except for small parts of the failure probability. Dividing by B of the released integers
gives f, as in Fieller's intervals of a ratio. (Proof: delta_method.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from discreet.array_types import Floats
from discreet.curator.request.request import Draw, Part
from discreet.data import Measure
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.largest_weights import (
    LEAST_FAILURE,
    MOST_NOISES,
    margins_of_largest_weights,
    total_in_units,
    units_of,
)
from discreet.mechanisms.error.weighted import NoiseError
from discreet.queries.outputs.base import margin_of, of_several
from discreet.queries.outputs.float_interval import FloatInterval, product
from discreet.queries.outputs.jets import Jet, between, difference, divided_by, repeated, total_of, variables
from discreet.records import dataclass

__all__ = [
    "Ratio",
    "RootRatio",
    "box_share",
    "expected_half_width",
    "has_law",
    "within_both",
    "within_law",
    "within_root_law",
]

Ratio: TypeAlias = Callable[[Mapping[Measure, Jet]], tuple[Jet, Jet]]
"""Two functions of the integers of measures: what is divided, and by what."""
RootRatio: TypeAlias = Callable[[Mapping[Measure, Jet]], tuple[Jet, Jet, Jet]]
"""Three functions of the integers of measures: what is divided, and by the root of which product."""

_BOX = Fraction(1, 5)
_TOTAL = Fraction(1, 40)
"""The parts of the failure probability for the box, and for the sum of the noises in units of deviations.
The law of the combination pays for them with a few percent of its margin; they enter in second order only."""
_ROOT_BOX, _SPREADS = Fraction(1, 20), Fraction(1, 5)
_ROOT_ROUNDS, _PIECES = 3, 4
"""Where a root divides: the part for the box, and that for both numbers under the root."""
_CHUNK = 4096
_ROUNDS = 2
"""What the first round leaves makes the derivatives of the second smaller; a third changes little."""
_SLACK = 1 + 1e-9


def has_law(parts: Sequence[Part], confidence: Fraction) -> bool:
    """Return whether every cell has a noise of its own of a known law, few noises, and a usual confidence."""
    enough = len(parts) <= MOST_NOISES and _TOTAL * (1 - confidence) >= LEAST_FAILURE
    return enough and all(
        # Parts of another type are averages, totals, or counts that were shown because they are large.
        type(part) is Part
        and isinstance(part.mechanism, Laplace | Gaussian)
        and part.mechanism.error.step == 1
        and part.mechanism.error.rounding == 0
        for part in parts
    )


def box_share(parts: Sequence[Part], confidence: Fraction, *, root: bool = False) -> Fraction:
    """Return the confidence of each side of the box, or of each margin where the noises have no law.

    For `within_law`, or for `within_root_law` if a root divides.
    """
    failure = (_ROOT_BOX if root else _BOX) if has_law(parts, confidence) else Fraction(1)
    return of_several(1 - failure * (1 - confidence), len(parts))


def within_law(
    ratio: Ratio, draws: Mapping[Measure, Draw], confidence: Fraction, within: FloatInterval | None = None
) -> FloatInterval:
    """Return what a ratio of the exact integers can be, with at least the confidence; `has_law` of all.

    Parameters
    ----------
    ratio : Ratio
        What is divided, and by what.
    draws : mapping of measures to draws
        Of what it reads.
    confidence : Fraction
        Of each group.
    within : FloatInterval, optional
        What the ratio can be in an event that holds anyway, such as that in which all noises are within their
        margins at `box_share`. The result is within it.
    """
    groups = len(np.asarray(next(iter(draws.values())).steps))
    chunks = [
        _Chunk.of(ratio, draws, slice(start, start + _CHUNK), confidence)
        for start in range(0, groups, _CHUNK)
    ]
    parts = [draw.part for draw in draws.values()]
    found = _joined([chunk.box for chunk in chunks])
    if within is not None:
        found = within_both(within, found)
    failure = (1 - _BOX - _TOTAL) * (1 - confidence)
    for _ in range(_ROUNDS):
        margins = _half_widths([one.orders(found) for one in chunks], parts, failure)
        pieces = [one.ends(margins[one.at]) for one in chunks]
        found = within_both(found, _joined(pieces))
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Chunk:
    """Some groups: what is divided and by what, on the box and as released."""

    at: slice
    boxed: tuple[Jet, Jet]
    exact: tuple[Jet, Jet]
    noises: _Noises

    @classmethod
    def of(cls, ratio: Ratio, draws: Mapping[Measure, Draw], at: slice, confidence: Fraction) -> _Chunk:
        parts = [draw.part for draw in draws.values()]
        noises = _Noises.of(parts, box_share(parts, confidence), confidence)
        boxed, exact = (ratio(of) for of in _released(draws, at, noises))
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            if (boxed[1].value.high < 0).any():
                side = np.where(boxed[1].value.high < 0, -1.0, 1.0)
                turned = between(FloatInterval(low=side, value=side, high=side), boxed[1])
                boxed = (turned * boxed[0], turned * boxed[1])
                exact = (turned * exact[0], turned * exact[1])
        return cls(at=at, boxed=boxed, exact=exact, noises=noises)

    @property
    def box(self) -> FloatInterval:
        """What interval arithmetic gives on the box; infinite where nothing is known."""
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            found = divided_by(*self.boxed).value
        known = np.isfinite(found.low) & np.isfinite(found.high)
        released = np.where(known, found.value, 0.0)
        return FloatInterval(
            low=np.where(known, found.low, -np.inf), value=released, high=np.where(known, found.high, np.inf)
        )

    def orders(self, ratios: FloatInterval) -> _Orders:
        """Return the derivatives and the remainder of A - f B, given what f can be."""
        here = _some(ratios, self.at)
        with np.errstate(invalid="ignore", over="ignore"):
            boxed, exact = (
                difference(one, between(here, other) * other) for one, other in (self.boxed, self.exact)
            )
        return _Orders.of(boxed, _magnitudes(exact), self.noises)

    def ends(self, margins: Floats) -> FloatInterval:
        """Return (A - margin) / B and (A + margin) / B as released; all numbers where B may be 0."""
        above, below = (jet.value for jet in self.exact)
        known = self.boxed[1].value.low > 0
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            low, high = _ends(above, below, margins)
            value = above.value / below.value
        return FloatInterval(
            low=np.where(known, low, -np.inf), value=value, high=np.where(known, high, np.inf)
        )


def _ends(above: FloatInterval, below: FloatInterval, margins: Floats) -> tuple[Floats, Floats]:
    """Return (A - margin) / B and (A + margin) / B for a positive B, rounded outward."""
    low, high = above.low - margins, above.high + margins
    found = FloatInterval(
        low=low / np.where(low < 0, below.low, below.high),
        value=above.value,
        high=high / np.where(high > 0, below.low, below.high),
    ).widened((np.abs(above.low) + np.abs(above.high)) / below.low)
    return found.low, found.high


def within_root_law(
    ratio: RootRatio, draws: Mapping[Measure, Draw], confidence: Fraction, within: FloatInterval
) -> FloatInterval:
    """Return what A / sqrt(V W) of the exact integers can be, with at least the confidence; `has_law` of all.

    With the fixed number l = sqrt(W / V) of the exact integers, sqrt(V W) is (l V + W / l) / 2 there, and has
    the same derivatives. So no root of noisy numbers is taken, which would need all of a box on which V and W
    are positive: their own laws say how small they can be, and l is between known ends.

    Neither V nor W is negative of exact integers. The parameters are those of `within_law`; `within` holds
    the ratio whenever all noises are within their margins at `box_share` with a root.
    """
    groups = len(np.asarray(next(iter(draws.values())).steps))
    chunks = [slice(start, start + _CHUNK) for start in range(0, groups, _CHUNK)]
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        return _joined([_root_chunk(ratio, draws, at, confidence, within) for at in chunks])


def _root_chunk(
    ratio: RootRatio, draws: Mapping[Measure, Draw], at: slice, confidence: Fraction, within: FloatInterval
) -> FloatInterval:
    parts = [draw.part for draw in draws.values()]
    noises = _Noises.of(parts, box_share(parts, confidence, root=True), confidence)
    boxed, exact = (ratio(of) for of in _released(draws, at, noises))
    under = [_Orders.of(boxed[place], _magnitudes(exact[place]), noises) for place in (1, 2)]
    margins = np.split(_half_widths(under, parts, _SPREADS / 2 * (1 - confidence)), 2)
    first, second = (
        FloatInterval(low=jet.value.low - by, value=jet.value.value, high=jet.value.high + by)
        for jet, by in zip(exact[1:], margins, strict=True)
    )
    known = (first.low > 0) & (second.low > 0) & np.isfinite(first.high) & np.isfinite(second.high)
    least, most = np.sqrt(second.low / first.high), np.sqrt(second.high / first.low)
    cuts = np.geomspace(np.where(known, least, 1.0), np.where(known, most, 1.0), _PIECES + 1)
    balances = [FloatInterval(low=low, value=low, high=high).widened() for low, high in pairwise(cuts)]
    # All pieces at once: as many groups, one round of them after another.
    boxes, points = ([repeated(jet, _PIECES) for jet in jets] for jets in (boxed, exact))
    balance = _joined(balances)
    below = _balanced(points[1].value, points[2].value, balance)
    found = _some(within, at)
    failure = (1 - _ROOT_BOX - _TOTAL - _SPREADS) * (1 - confidence)
    for _ in range(_ROOT_ROUNDS):
        orders = _balanced_orders(boxes, points, _joined([found] * _PIECES), balance, noises)
        by = _half_widths([orders], parts, failure)
        lows, highs = (np.split(end, _PIECES) for end in _ends(points[0].value, below, by))
        low, high = np.min(lows, axis=0), np.max(highs, axis=0)
        low, high = np.where(known, low, -np.inf), np.where(known, high, np.inf)
        found = within_both(found, FloatInterval(low=low, value=found.value, high=high))
    return found


def _balanced_orders(
    boxed: Sequence[Jet],
    exact: Sequence[Jet],
    ratios: FloatInterval,
    balance: FloatInterval,
    noises: _Noises,
) -> _Orders:
    """Return the derivatives and the remainder of A - f (l V + W / l) / 2, given what f and l can be."""
    turned = FloatInterval(low=1 / balance.high, value=1 / balance.value, high=1 / balance.low).widened()
    halves = ratios.scaled(Fraction(1, 2))
    weights = [product(halves, balance), product(halves, turned)]
    box, released = (
        difference(one, total_of(between(weights[0], one) * two, between(weights[1], one) * three))
        for one, two, three in (boxed, exact)
    )
    return _Orders.of(box, _magnitudes(released), noises)


def _balanced(one: FloatInterval, other: FloatInterval, balance: FloatInterval) -> FloatInterval:
    """Return what (l V + W / l) / 2 can be for positive V and W and an l between two ends.

    It is convex in l, and least, the root of V W, where l is that of W / V.
    """
    ends = [(end * one.high + other.high / end) / 2 for end in (balance.low, balance.high)]
    lows = [(end * one.low + other.low / end) / 2 for end in (balance.low, balance.high)]
    least = np.sqrt(other.low / one.low)
    inside = (balance.low <= least) & (least <= balance.high)
    low = np.where(inside, np.sqrt(one.low * other.low), np.minimum(*lows))
    return FloatInterval(low=low, value=np.sqrt(one.value * other.value), high=np.maximum(*ends)).widened()


def within_both(one: FloatInterval, other: FloatInterval) -> FloatInterval:
    """Return the intersection of two intervals that hold at once, with the value of the first.

    Where they do not meet, what has failed is not known, and the first is given; where an end is not known
    it is infinite.
    """
    with np.errstate(invalid="ignore"):
        low = np.fmax(np.where(np.isnan(one.low), -np.inf, one.low), other.low)
        high = np.fmin(np.where(np.isnan(one.high), np.inf, one.high), other.high)
        met = low <= high
    return FloatInterval(low=np.where(met, low, one.low), value=one.value, high=np.where(met, high, one.high))


def expected_half_width(
    ratio: Ratio,
    noises: Mapping[Measure, Part],
    confidence: Fraction,
    ranges: Sequence[tuple[float, float]],
    largest: float,
) -> float:
    """Return a bound on half the width of the interval, if the exact integers are within ranges.

    The ratio is at most the largest in magnitude.
    """
    parts = list(noises.values())
    known = _Noises.of(parts, box_share(parts, confidence), confidence)
    ends = [
        (np.array([low - margin]), np.array([(low + high) / 2]), np.array([high + margin]))
        for (low, high), margin in zip(ranges, known.margins, strict=True)
    ]
    lows, values, highs = zip(*ends, strict=True)
    size = np.array([largest])
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        one, other = ratio(dict(zip(noises, variables(lows, values, highs), strict=True)))
        jet = difference(one, between(FloatInterval(low=-size, value=0 * size, high=size), other) * other)
    anywhere = np.full(jet.slopes.value.shape, np.inf)
    failure = (1 - _BOX - _TOTAL) * (1 - confidence)
    half = _half_widths([_Orders.of(jet, anywhere, known)], parts, failure)
    return float(half[0] / other.value.value[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Noises:
    """What the noises are at most: each its margin, and all of them together in units."""

    margins: tuple[int, ...]
    units: Floats
    largest: float
    total: float

    @classmethod
    def of(cls, parts: Sequence[Part], share: Fraction, confidence: Fraction) -> _Noises:
        """Return them, each at its share of confidence."""
        laws = tuple(map(_law, parts))
        margins, units = tuple(margin_of(part, share) for part in parts), units_of(laws)
        return cls(
            margins=margins,
            units=units,
            largest=float(np.max(np.array(margins) / units)) * _SLACK,
            total=total_in_units(laws, _TOTAL * (1 - confidence)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Orders:
    """The largest derivatives at the exact integers, and the remainder, in every group."""

    first: Floats
    second: Floats

    @classmethod
    def of(cls, jet: Jet, released: Floats, noises: _Noises) -> _Orders:
        """Return them for what a function can be on the box, and its derivatives as released."""
        units = noises.units
        with np.errstate(invalid="ignore", over="ignore"):
            bends = jet.bends * units[:, None, None] * units[None, :, None]
            moved = _at_most(np.moveaxis(bends, 1, 0), noises.largest, noises.total)
            first = np.fmin(_magnitudes(jet), released + moved / units[:, None]) * _SLACK
            second = _at_most(moved, noises.largest, noises.total) / 2 * _SLACK
        return cls(first=first, second=second)


def _at_most(weights: Floats, largest: float, total: float) -> Floats:
    """Return the most that a sum of weights times y can be along the first axis, or NaN.

    Each y is between 0 and the largest, and all of them are at most the total together: the largest weights
    get as much as they may.
    """
    taken = np.clip(total - largest * np.arange(len(weights)), 0.0, largest)
    return np.asarray(np.tensordot(taken, -np.sort(-weights, axis=0), axes=(0, 0)))


def _half_widths(pieces: Sequence[_Orders], parts: Sequence[Part], failure: Fraction) -> Floats:
    """Return the margins of first order, of a failure probability, and the remainders."""
    weights = np.concatenate([piece.first for piece in pieces], axis=1)
    first = margins_of_largest_weights([_law(part) for part in parts], weights, failure)
    with np.errstate(invalid="ignore", over="ignore"):
        found = (first + np.concatenate([piece.second for piece in pieces])) * _SLACK
    return np.where(np.isnan(found), np.inf, found)


def _magnitudes(jet: Jet) -> Floats:
    return np.maximum(np.abs(jet.slopes.low), np.abs(jet.slopes.high))


def _some(one: FloatInterval, at: slice) -> FloatInterval:
    return FloatInterval(low=one.low[at], value=one.value[at], high=one.high[at])


def _joined(pieces: Sequence[FloatInterval]) -> FloatInterval:
    low, value, high = (
        np.concatenate([getattr(one, end) for one in pieces]) for end in ("low", "value", "high")
    )
    return FloatInterval(low=low, value=value, high=high)


def _released(draws: Mapping[Measure, Draw], at: slice, noises: _Noises) -> Iterator[Mapping[Measure, Jet]]:
    """Yield the integers of some groups within their margins, and as released."""
    steps = [np.asarray(draw.steps)[at].astype(np.float64) for draw in draws.values()]
    lows, highs = (
        [step + side * by for step, by in zip(steps, noises.margins, strict=True)] for side in (-1.0, 1.0)
    )
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for ends in ((lows, steps, highs), (steps, steps, steps)):
            yield dict(zip(draws, variables(*ends), strict=True))


def _law(part: Part) -> NoiseError:
    assert isinstance(part.mechanism, Laplace | Gaussian)  # noqa: S101
    return part.mechanism.error
