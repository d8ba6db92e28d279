"""Weights of levels: against the statistics themselves, and never with more than two peaks."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from discreet.stability.order_statistics.levels import LevelWeights, falling, minus, raised
from discreet.stability.order_statistics.nearby import mean_changes, range_changes
from discreet.stability.order_statistics.ranks import rank_rule
from discreet.stability.order_statistics.trimming import Trimming
from discreet.stability.order_statistics.winsorized_mean import winsorized_levels

PARTS = [Fraction(0), Fraction(1, 1000), Fraction(1, 10), Fraction(1, 4), Fraction(3, 7), Fraction(499, 1000)]
QUARTILES = rank_rule(Fraction(1, 4)), rank_rule(Fraction(3, 4))


def trimmed_levels(rule, size, shift):
    cut = rule.cut(size)
    return falling(size, cut, size - 2 * cut, whole=size - 2 * cut, bottom=size - cut, shift=shift)


def integral(weights, values, upper):
    """Return the integral from 0 to the upper bound by its definition."""
    times = [0, *values, upper]
    return sum(weights.at(level) * (times[level + 1] - times[level]) for level in range(len(values) + 1))


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_integrals_are_the_means(part):
    rng, rule = np.random.default_rng(1), Trimming(part=part)
    for size in range(1, 15):
        values = sorted(rng.integers(0, 50, size).tolist())
        cut = rule.cut(size)
        kept = values[cut : size - cut]
        assert integral(trimmed_levels(rule, size, 0), values, 50) == Fraction(sum(kept), len(kept))
        clipped = [min(max(value, kept[0]), kept[-1]) for value in values]
        assert integral(winsorized_levels(rule, size, 0), values, 50) == Fraction(sum(clipped), size)
        below = [0, 0, 0, *values]
        assert integral(winsorized_levels(rule, size, 3), below, 50) == Fraction(sum(clipped), size)


def test_a_raised_stretch_is_a_distance_of_ranks():
    values = [1, 4, 9, 16, 25]
    assert integral(raised(5, 2, 4), values, 50) == 16 - 4
    assert integral(raised(5, -3, 2), values, 50) == 4
    assert integral(raised(5, 4, 2), values, 50) == 0
    assert integral(minus(raised(5, 2, 4), raised(5, 1, 2), 5), values, 50) == 12 - 3


def changes():
    for size in range(25):
        yield from range_changes(*QUARTILES, size, 9)
        for part in PARTS:
            for levels in (trimmed_levels, winsorized_levels):
                yield from mean_changes(partial(levels, Trimming(part=part)), size, 9)


def peaked(weights, low, high):
    numbers = [weights.at(level) for level in range(weights.size + 1)]
    parts = numbers[: low + 1], numbers[low + 1 : high + 1], numbers[high:][::-1]
    return all(part == sorted(part) for part in parts)


def test_no_step_has_more_than_two_peaks():
    """One way or the other, all weights rise up to a level, then from the next to another, and then fall."""
    for change, _ in changes():
        weights = change if change.peaks() else change.reflected()
        found = weights.peaks()
        assert found is not None
        if weights.size < 12:
            assert peaked(weights, *found)


def test_pieces_mirror_fall_and_rise():
    weights = LevelWeights(6, ((0, 0, 2), (3, 20, -1), (5, 3, 0)), 1)
    numbers = [weights.at(level) for level in range(7)]
    assert numbers == [0, 2, 4, 17, 16, 3, 3]
    assert [weights.reflected().at(level) for level in range(7)] == numbers[::-1]
    jumps, slopes = dict(weights.jumps()), weights.slopes()
    for rank in range(1, 7):
        sloped = -sum(slope for first, last, slope in slopes if first < rank <= last)
        assert numbers[rank - 1] - numbers[rank] == sloped + jumps.get(rank, 0)
    assert LevelWeights(4, ((0, 3, 0), (1, 0, 0), (2, 3, 0), (3, 0, 0), (4, 3, 0)), 1).peaks() is None
