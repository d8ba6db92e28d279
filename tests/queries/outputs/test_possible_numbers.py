"""Interval arithmetic with NULL holds what fractions give, at the ends, at 0, near it and far out."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.queries.outputs import possible_numbers as numbers

ENDS = [-1e300, -7.25, -1.0, -1e-300, 0.0, 1e-200, 0.1, 1.0, 2.5, 1e17, 1e300]
INTERVALS = [(low, high) for low in ENDS for high in ENDS if low <= high]


def possible(pairs, *, whole=False, null=False):
    """Numbers within some pairs of ends; the middle is released."""
    low, high = (np.array(ends, np.float64) for ends in zip(*pairs, strict=True))
    missing = np.full(low.shape, null)
    return numbers.PossibleNumbers(low=low, value=low / 2 + high / 2, high=high, null=missing, whole=whole)


def points(low, high):
    """Fractions in an interval: its ends and what lies between."""
    ends = Fraction(low), Fraction(high)
    return {*ends, sum(ends) / 2, (ends[0] * 2 + ends[1]) / 3, *((Fraction(0),) if low <= 0 <= high else ())}


def holds(found, place, value):
    return Fraction(float(found.low[place])) <= value <= Fraction(float(found.high[place]))


def check_pairs(operation, exact):
    pairs = list(itertools.product(INTERVALS, repeat=2))
    found = operation(*(possible(side) for side in zip(*pairs, strict=True)))
    for place, (one, other) in enumerate(pairs):
        for left, right in itertools.product(points(*one), points(*other)):
            true = exact(left, right)
            if true is None:
                assert found.null[place]
            elif math.isfinite(found.low[place]) or math.isfinite(found.high[place]):
                low, high = found.low[place], found.high[place]
                assert low == -np.inf or Fraction(float(low)) <= true
                assert high == np.inf or true <= Fraction(float(high))


@pytest.mark.parametrize(
    ("operation", "exact"),
    [
        (numbers.plus, lambda one, other: one + other),
        (numbers.times, lambda one, other: one * other),
        (numbers.divided, lambda one, other: one / other if other else None),
        (numbers.larger_present, max),
        (numbers.first_present, lambda one, _: one),
        (numbers.null_if, lambda one, other: None if one == other else one),
    ],
)
def test_operations_on_two_hold_what_fractions_give(operation, exact):
    check_pairs(operation, exact)


def test_an_operation_without_slack_is_caught(monkeypatch):
    """The control: the roundings of doubles are seen."""
    monkeypatch.setattr(numbers, "_SLACK", 0.0)
    with pytest.raises(AssertionError):
        check_pairs(numbers.plus, lambda one, other: one + other)


def test_a_divisor_that_can_be_0_leaves_nothing_to_be_said():
    found = numbers.divided(possible([(1, 2)] * 3), possible([(0, 3), (-1, 1), (-2, 0)]))
    assert (found.low == -np.inf).all()
    assert (found.high == np.inf).all()
    assert found.null.all()


def half_away(value, digits):
    scaled = abs(value) * Fraction(10) ** digits
    size = Fraction(math.floor(scaled + Fraction(1, 2))) / Fraction(10) ** digits
    return size if value >= 0 else -size


@pytest.mark.parametrize("digits", [-3, -1, 0, 1, 2, 15])
def test_rounded_ends_hold_what_is_rounded_and_what_is_not(digits):
    draw = np.random.default_rng(digits + 20)
    ends = np.sort(draw.normal(size=(400, 2)) * 10.0 ** draw.integers(-3, 18, (400, 1)))
    pairs = [*map(tuple, ends), (0.285, 0.285), (2.5, 2.5), (-0.05, 0.05), (1e22, 1e22), (0.1, 0.3)]
    found = numbers.rounded_outward(possible(pairs), digits)
    for place, pair in enumerate(pairs):
        for value in points(*pair):
            for one in (half_away(value, digits), value):
                assert found.low[place] <= float(one) <= found.high[place], (pair, value)


def test_what_is_whole_stays_whole_and_exact():
    one, other = possible([(3, 5)], whole=True), possible([(-2, 7)], whole=True)
    for found, ends in (
        (numbers.plus(one, other), (1, 12)),
        (numbers.times(one, other), (-10, 35)),
        (numbers.rounded_outward(one, 2), (3, 5)),
        (numbers.absolute(other), (0, 7)),
        (numbers.integer_part(possible([(0.2, 3.7)]), up=False), (0, 3)),
        (numbers.integer_part(possible([(0.2, 3.7)]), up=True), (1, 4)),
        (numbers.sign(other), (-1, 1)),
    ):
        assert found.whole
        assert (found.low[0], found.high[0]) == ends


def test_roots_of_what_may_be_negative_may_be_null():
    found = numbers.root_or_null(possible([(4, 9), (-1, 2), (-3, -2), (2, 2)]))
    assert found.null.tolist() == [False, True, True, False]
    assert found.low[0] <= 2
    assert found.high[0] >= 3
    assert found.low[2] > found.high[2]
    assert Fraction(float(found.low[3])) ** 2 <= 2 <= Fraction(float(found.high[3])) ** 2


def test_null_is_skipped_where_it_may_be():
    missing = possible([(1, 2)], null=True)
    found = numbers.first_present(missing, possible([(10, 11)]))
    assert (found.low[0], found.high[0], found.null[0]) == (1, 11, False)
    found = numbers.larger_present(missing, possible([(-5, 0)]))
    assert (found.low[0], found.high[0], found.null[0]) == (-5, 2, False)
    assert numbers.plus(missing, missing).null[0]
    nothing = numbers.constants([None])
    assert numbers.plus(nothing, missing).low[0] == np.inf
    assert numbers.first_present(nothing, possible([(3, 4)])).low[0] == 3


def test_constants_are_enclosed():
    found = numbers.constants([Fraction(1, 10), 3, None])
    assert Fraction(float(found.low[0])) <= Fraction(1, 10) <= Fraction(float(found.high[0]))
    assert (found.low[1], found.high[1]) == (3, 3)
    assert found.null.tolist() == [False, False, True]
    assert not found.whole


def test_what_overflows_is_unknown():
    found = numbers.times(possible([(1e300, 1e305)]), possible([(1e300, 1e301)]))
    assert found.high[0] == np.inf
    assert math.isfinite(found.low[0])
    assert math.isnan(found.value[0])


def test_negative_turns_ends_around():
    found = numbers.negative(possible([(-1, 4)]))
    assert (found.low[0], found.high[0]) == (-4, 1)


def test_a_choice_that_is_open_holds_both():
    yes, no = np.array([True]), np.array([False])
    one, other = possible([(1, 2)]), possible([(5, 6)])
    for possibly, avoidable, ends in ((yes, yes, (1, 6)), (yes, no, (1, 2)), (no, yes, (5, 6))):
        found = numbers.chosen(yes, possibly, avoidable, one, other)
        assert (found.low[0], found.high[0], found.value[0]) == (*ends, 1.5)
