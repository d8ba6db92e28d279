"""The family of data that is tried, against all data that the moves lead to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.stability.order_statistics.blocks import blocks
from discreet.stability.order_statistics.levels import LevelWeights
from discreet.stability.order_statistics.moved import largest_integral
from discreet.stability.order_statistics.ordered import ordered
from effort import sizes
from stability.order_statistics.path_oracle import largest


def two_peaks(rng, size):
    """Draw weights that rise, fall once, rise again, and fall; some are below 0."""
    low, high = sorted(rng.integers(0, size + 1, 2).tolist())
    numbers = np.sort(rng.integers(-4, 9, size + 1))
    first = np.sort(rng.choice(numbers, low + 1))
    second = np.sort(rng.choice(numbers, high - low))
    third = np.sort(rng.integers(-4, (second if high > low else first)[-1] + 1, size - high))[::-1]
    return np.concatenate((first, second, third)).tolist()


def pieces(rng, numbers):
    """Write weights as pieces: straight ones where three or more lie on a line, sometimes mirrored."""
    found, start = [], 0
    while start < len(numbers):
        stop = start + 1
        slope = numbers[stop] - numbers[start] if stop < len(numbers) and rng.random() < 0.7 else 0
        while stop < len(numbers) and numbers[stop] - numbers[stop - 1] == slope:
            stop += 1
        found.append((start, numbers[start] - slope * start, slope))
        start = stop
    return LevelWeights(len(numbers) - 1, tuple(found), 1)


def check(many, scale=1, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(many):
        count, added = rng.integers(0, 7), int(rng.integers(0, 5))
        values = sorted((rng.integers(0, 12, count) * scale).tolist())
        removed = int(rng.integers(0, count + 1))
        heavy = 1 if scale == 1 else 2**40 + 1  # beyond 64 bits
        numbers = [number * heavy for number in two_peaks(rng, count + added - removed)]
        weights = pieces(rng, numbers)
        if rng.random() < 0.5:
            weights, numbers = weights.reflected(), numbers[::-1]
        data = ordered(np.array(values, dtype=np.int64), lower=0, upper=11 * scale)
        found = largest_integral(
            blocks(data), blocks(data.reflected()), weights, (added, removed), Fraction(0)
        )
        assert found == max(0, largest(numbers, values, 11 * scale, added, removed))


@pytest.mark.parametrize("many", sizes(250, 3000))
def test_the_family_is_enough_and_only_what_can_be_reached(many):
    check(many)


@pytest.mark.parametrize("scale", [2**40, 2**49 + 1])
def test_floats_choose_and_integers_decide(scale):
    check(60, scale, seed=1)


def test_one_place_for_removals_is_not_enough(monkeypatch):
    """With two peaks some values go at the first, and some at the second."""
    import discreet.stability.order_statistics.moved as module

    grid = module._grid

    def one_place(added, removed, peaks):
        (below, between, early), allowed = grid(added, removed, peaks)
        return (below, between, early[:1]), allowed[:1] if allowed.ndim > 1 else allowed

    monkeypatch.setattr(module, "_grid", one_place)
    with pytest.raises(AssertionError):
        check(250)


def test_additions_at_the_bounds_are_not_enough(monkeypatch):
    import discreet.stability.order_statistics.moved as module

    grid = module._grid

    def at_the_bounds(added, removed, peaks):
        (below, between, early), allowed = grid(added, removed, peaks)
        return (below, between[:1], early), allowed[:, :1] if allowed.ndim > 1 else allowed

    monkeypatch.setattr(module, "_grid", at_the_bounds)
    with pytest.raises(AssertionError):
        check(250)
