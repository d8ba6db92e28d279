"""Quantiles against enumeration, and their smoothness on neighbors."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON, REPLACE_ROW
from discreet.stability.order_statistics.ordered import Listed
from discreet.stability.order_statistics.quantile import median, quantile
from discreet.stability.profile import Profile
from effort import examples
from stability.order_oracle import (
    DECAYS,
    DOMAIN,
    STEPS,
    check_exact,
    check_neighbors,
    neighbors,
    small_data,
)

LEVELS = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)]


def plainly(level):
    """Return the quantile by its definition."""
    return lambda values: values[math.ceil(level * len(values)) - 1] if values else DOMAIN[0]


@pytest.mark.few(6)
@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_quantiles_equal_the_enumeration(level, relation, rows):
    check_exact(partial(quantile, level=level), plainly(level), relation, rows, small_data(100, seed=rows))


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_an_empty_table_and_one_value(relation, rows):
    data = [(), *((value,) for value in DOMAIN), *((value, value) for value in DOMAIN)]
    check_exact(median, plainly(Fraction(1, 2)), relation, rows, data)


@given(neighbors(), st.sampled_from([Fraction(0), *LEVELS, Fraction(1)]), st.sampled_from(DECAYS))
@settings(max_examples=examples(150), deadline=None)
def test_smooth_between_neighbors(drawn, level, decay):
    check_neighbors(partial(quantile, level=level), drawn, decay)


def test_the_published_formula():
    values = np.array([1, 2, 4, 8, 16])
    profile = median(values, lower=0, upper=100, relation=REPLACE_ROW)
    padded = [0] * 6 + [1, 2, 4, 8, 16] + [100] * 6
    middle = 6 + 2
    for k in range(6):
        widest = max(padded[middle + t] - padded[middle + t - k - 1] for t in range(k + 2))
        assert profile.local_at(k) == widest
    assert profile.value == 4


def test_a_window_one_too_short_is_caught(monkeypatch):
    widest = Listed.widest
    monkeypatch.setattr(Listed, "widest", lambda self, a, b, length: widest(self, a, b, length - 1))
    with pytest.raises(AssertionError):
        check_exact(median, plainly(Fraction(1, 2)), REPLACE_ROW, 1, small_data(50, seed=1))


def test_a_forgotten_rank_shift_is_caught(monkeypatch):
    module = importlib.import_module("discreet.stability.order_statistics.quantile")

    def unshifted(data, rule, rows, distance):
        rank, steps = rule.at(data.size), rows * (distance + 1)
        return data.widest(rank - steps, rank, steps)

    monkeypatch.setattr(module, "shifted_sensitivity", unshifted)
    with pytest.raises(AssertionError):
        check_exact(median, plainly(Fraction(1, 2)), ADD_REMOVE_PERSON, 1, small_data(50, seed=1))


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_equal_bounds_make_a_constant(relation, rows):
    profile = median(np.array([3, 9]), lower=5, upper=5, relation=relation, rows=rows)
    assert (profile.value, profile.smooth(1)) == (5, 0)


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_constant_data_are_far_from_any_change(relation, rows):
    profile = median(np.full(1000, 7), lower=0, upper=10, relation=relation, rows=rows)
    assert profile.local_at(100) == 0
    assert 0 < profile.smooth(Fraction(1, 10)) < 1e-6
    assert profile.smooth(1000) == Profile.FLOOR


def test_the_largest_values():
    values = np.array([-(2**53), 2**53, 0, 5])
    profile = median(values, lower=-(2**53), upper=2**53, relation=ADD_REMOVE_PERSON, rows=2)
    assert profile.value == 0
    assert profile.local_at(0) == 2**53
    assert profile.local_at(2) == 2**54


@pytest.mark.slow
def test_many_values_agree_with_all_distances():
    values = np.random.default_rng(3).integers(0, 10**6, 3000) ** 2
    for relation, rows, level in (
        (REPLACE_PERSON, 1, 0.5),
        (ADD_REMOVE_PERSON, 4, 0.5),
        (ADD_REMOVE_PERSON, 2, 0.3),
    ):
        profile = quantile(values, level=level, lower=0, upper=10**12, relation=relation, rows=rows)
        for decay in (Fraction(1, 20), Fraction(1, 200)):
            every = max(
                math.exp(-float(decay) * k) * float(profile.local_at(k))
                for k in range(min(profile.reach, 600) + 1)
            )
            assert float(profile.smooth(decay)) == pytest.approx(every, rel=1e-11)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="rows"):
        median(np.array([1]), lower=0, upper=1, relation=REPLACE_ROW, rows=2)
    with pytest.raises(ParameterError, match="level"):
        quantile(np.array([1]), level=2, lower=0, upper=1)
