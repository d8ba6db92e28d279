"""Intervals of counts that a threshold showed: the exact chance that they cover, given that."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.error import shown_counts as module
from discreet.mechanisms.error.shown_counts import shown_counts
from discreet.mechanisms.keys.counted_keys import CountedKeys, Reach

MECHANISMS = [
    CountedKeys.best(epsilon=1, delta=1e-6),
    CountedKeys.best(epsilon=Fraction(1, 5), delta=1e-9),
    CountedKeys.best(epsilon=8, delta=1e-6, reach=Reach(keys=2)),
    CountedKeys.best(epsilon=1, delta=1e-6, reach=Reach(keys=30)),
    CountedKeys.best(rho=Fraction(1, 10), delta=1e-6, reach=Reach(keys=3, rows=2)),
    CountedKeys.best(epsilon=Fraction(1, 2000), delta=1e-2),
]
LEVELS = [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)]


def covered(mechanism, known, count):
    """The exact chance that a count lies in its interval, given that it is shown; None if it never is."""
    shown = np.arange(known.threshold, max(count, known.threshold) + 60 * known.margin + 100)
    chances = mechanism.noise.tails(shown - count) - mechanism.noise.tails(shown + 1 - count)
    inside = (known.lower(shown) <= count) & (count <= known.upper(shown))
    total = mechanism.noise.tails(np.array([known.threshold - count]))[0]
    return chances[inside].sum() / total if total > 1e-200 else None


@pytest.mark.parametrize("confidence", LEVELS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_given_that_it_is_shown_every_count_is_covered(mechanism, confidence):
    known = shown_counts(mechanism.noise, mechanism.threshold, confidence)
    last = known.threshold + 3 * known.margin
    for count in {1, 2, 3, *np.unique(np.linspace(1, last, 150).astype(int)).tolist()}:
        chance = covered(mechanism, known, count)
        assert chance is None or chance >= float(confidence) - 1e-9


@pytest.mark.parametrize("mechanism", MECHANISMS[:5])
def test_a_symmetric_interval_would_miss_small_counts(mechanism):
    known = shown_counts(mechanism.noise, mechanism.threshold, Fraction(95, 100))
    count = max(known.threshold - 2 * known.margin - 1, 1)
    shown = np.arange(known.threshold, known.threshold + 60 * known.margin + 100)
    chances = mechanism.noise.tails(shown - count) - mechanism.noise.tails(shown + 1 - count)
    inside = np.abs(shown - count) <= known.margin
    assert chances[inside].sum() / mechanism.noise.tails(np.array([known.threshold - count]))[0] < 0.9


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_far_above_the_threshold_intervals_are_those_of_any_count(mechanism):
    known = shown_counts(mechanism.noise, mechanism.threshold, Fraction(95, 100))
    shown = known.threshold + 2 * known.margin + np.arange(1, 5)
    assert (known.lower(shown) == shown - known.margin).all()
    assert (known.upper(shown) == shown + known.margin).all()
    assert mechanism.noise.tails(np.array([known.margin + 1]))[0] * 2 <= 0.05
    near = known.threshold + np.arange(2 * known.margin + 3)
    assert (known.lower(near) >= 1).all()
    assert (known.lower(near) <= near).all()


def test_where_a_table_would_be_long_intervals_begin_at_one(monkeypatch):
    mechanism = MECHANISMS[0]
    exact = shown_counts(mechanism.noise, mechanism.threshold, Fraction(9, 10))
    monkeypatch.setattr(module, "_MOST_TABULATED", 3)
    shown_counts.cache_clear()
    rough = shown_counts(mechanism.noise, mechanism.threshold, Fraction(9, 10))
    shown_counts.cache_clear()
    shown = np.arange(mechanism.threshold, mechanism.threshold + 50)
    assert (rough.lower(shown) <= exact.lower(shown)).all()
    assert rough.lower(shown[:1]).tolist() == [1]
    assert (rough.upper(shown) == exact.upper(shown)).all()
