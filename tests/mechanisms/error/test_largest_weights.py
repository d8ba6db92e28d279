"""Margins of weighted noises: they cover every smaller weight, and are nearly those of the exact law."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error import largest_weights
from discreet.mechanisms.error.largest_weights import (
    LEAST_FAILURE,
    MOST_NOISES,
    margins_of_largest_weights,
    total_in_units,
    units_of,
)
from effort import examples

SMALL = Laplace(sensitivity=1, epsilon=1).error
WIDE = Laplace(sensitivity=1, epsilon=Fraction(1, 7)).error
NORMAL = Gaussian(sensitivity=1, rho=Fraction(1, 30)).error
TINY = Laplace(sensitivity=1, epsilon=40).error
LAWS = [SMALL, WIDE, NORMAL, TINY]


def points(law):
    """The integers that a noise takes, and their probabilities, out to 1e-12."""
    most = 0
    while law.tail_in_steps(most) > 1e-12:
        most += 1
    side = [(law.tail_in_steps(k - 1) - law.tail_in_steps(k)) / 2 for k in range(1, most + 1)]
    chances = np.array([*side[::-1], 1 - law.tail_in_steps(0), *side])
    return np.arange(-most, most + 1), chances


def tail_of(laws, weights, threshold):
    """P(abs(sum of weights times noises) > threshold) by enumeration of all points."""
    sums, chances = np.zeros(1), np.ones(1)
    for law, weight in zip(laws, weights, strict=True):
        values, masses = points(law)
        sums = (sums[:, None] + weight * values[None, :]).reshape(-1)
        chances = (chances[:, None] * masses[None, :]).reshape(-1)
    return chances[np.abs(sums) > threshold].sum()


weights = st.floats(0, 1)


@settings(max_examples=examples(60))
@given(
    st.lists(st.tuples(st.sampled_from(LAWS), st.floats(0.01, 1), weights), min_size=1, max_size=2),
    st.sampled_from([0.3, 0.05, 0.001]),
)
def test_margins_of_smaller_weights_are_covered(terms, failure):
    laws = [law for law, _, _ in terms]
    largest = np.array([[most] for _, most, _ in terms])
    (margin,) = margins_of_largest_weights(laws, largest, failure)
    smaller = [most * share for _, most, share in terms]
    assert tail_of(laws, smaller, margin) <= failure + 1e-10
    assert tail_of(laws, largest[:, 0], margin) <= failure + 1e-10


@pytest.mark.parametrize("failure", [0.05, 0.002])
@pytest.mark.parametrize(
    "laws",
    [(WIDE,), (WIDE, WIDE), (NORMAL, NORMAL), (WIDE, NORMAL)],
    ids=["one", "two", "normal", "two kinds"],
)
def test_margins_are_nearly_those_of_the_exact_law(laws, failure):
    """Up to what the lattice costs, a step of each, and the rounding of weights and noises."""
    given_weights = np.array([[1.0], [0.61]][: len(laws)])
    (margin,) = margins_of_largest_weights(laws, given_weights, failure)
    inside = (margin - given_weights.sum()) * 0.94
    assert tail_of(laws, given_weights[:, 0], inside) > failure


def test_a_margin_without_the_lattice_is_noticed():
    """Smaller weights can meet 0 less often than larger ones: what the lattice costs must be paid for.

    The control is a margin for the larger weights that is the exact one.
    """
    laws = [Laplace(sensitivity=1, epsilon=4).error] * 2
    larger, smaller = tail_of(laws, [1, 1], 0), tail_of(laws, [1, 0.5], 0)
    assert larger < smaller
    failure = (larger + smaller) / 2
    assert tail_of(laws, [1, 0.5], 0.1) > failure
    (margin,) = margins_of_largest_weights(laws, np.ones((2, 1)), failure)
    assert tail_of(laws, [1, 0.5], margin) <= failure


def test_half_the_weights_are_noticed():
    """The control: a margin for half of the weights does not cover."""
    laws, large = [WIDE, WIDE], np.array([[1.0], [1.0]])
    (margin,) = margins_of_largest_weights(laws, large / 2, 0.05)
    assert tail_of(laws, [1, 1], margin) > 0.1


def test_many_columns_share_few_laws(monkeypatch):
    """However many columns there are, few laws are worked out, and all of them cover."""
    worked, transformed = [], []
    exact, transform = largest_weights._WeightedSums._quantile, largest_weights._transform
    monkeypatch.setattr(
        largest_weights._WeightedSums, "_quantile", lambda *args: worked.append(args) or exact(*args)
    )
    monkeypatch.setattr(
        largest_weights, "_transform", lambda *args: transformed.append(args) or transform(*args)
    )
    largest_weights._sums_of.cache_clear()
    random = np.random.default_rng(4)
    laws, many = [WIDE, NORMAL, SMALL], random.random((3, 3000))
    found = margins_of_largest_weights(laws, many, 0.05)
    assert 1 < len(worked) <= 64
    assert len(transformed) < len(worked)  # of three noises each: they are shared
    margins_of_largest_weights(laws, many, 0.05)
    assert len(worked) <= 64  # known the second time
    deviations = np.sqrt((many**2 * np.array([[law.variance] for law in laws])).sum(axis=0))
    assert (found > 1.8 * deviations).all()
    assert np.median(found / deviations) < 2.9


def test_quantiles_are_the_same_alone_and_together(monkeypatch):
    """What patterns share, and how much of it is kept, changes no margin."""
    laws, many = [WIDE, NORMAL, SMALL], np.random.default_rng(5).random((3, 40))
    together = margins_of_largest_weights(laws, many, 0.05)
    monkeypatch.setattr(largest_weights, "_MOST_KNOWN", 1)
    monkeypatch.setattr(largest_weights, "_MOST_TRANSFORMS", 1)
    largest_weights._sums_of.cache_clear()
    assert (margins_of_largest_weights(laws, many, 0.05) == together).all()
    monkeypatch.undo()
    for column in (0, 7, 39):
        largest_weights._sums_of.cache_clear()
        alone = margins_of_largest_weights(laws, many[:, [column]], 0.05)
        assert alone[0] <= together[column] * 1.02


def test_what_is_not_known_has_no_margin():
    many = np.array([[1.0, np.inf, np.nan, 0.0]])
    found = margins_of_largest_weights([WIDE], many, 0.05)
    assert np.isfinite(found).tolist() == [True, False, False, True]
    assert found[3] == 0
    assert np.isinf(margins_of_largest_weights([WIDE], many[:, :1], LEAST_FAILURE / 2)).all()
    crowd = np.ones((MOST_NOISES + 1, 1))
    assert np.isinf(margins_of_largest_weights([WIDE] * len(crowd), crowd, 0.05)).all()
    assert np.isfinite(margins_of_largest_weights([WIDE] * MOST_NOISES, crowd[1:], 0.05)).all()


@pytest.mark.parametrize("laws", [(SMALL,), (SMALL, WIDE), (NORMAL, TINY)], ids=["one", "two", "kinds"])
def test_the_sum_of_all_noises_is_covered(laws):
    failure = Fraction(1, 200)
    units = units_of(laws)
    assert units.min() >= 0.25
    total = total_in_units(laws, failure)
    sums, chances = np.zeros(1), np.ones(1)
    for law, unit in zip(laws, units, strict=True):
        values, masses = points(law)
        sums = (sums[:, None] + np.abs(values[None, :]) / unit).reshape(-1)
        chances = (chances[:, None] * masses[None, :]).reshape(-1)
    assert chances[sums > total].sum() <= failure
    assert chances[sums > total - 0.1 - 1 / units.min()].sum() > failure
    assert sqrt(WIDE.variance) == pytest.approx(units_of([WIDE])[0])
