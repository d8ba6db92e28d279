"""How values enter: what is accepted depends on types, and distances never stretch."""

from __future__ import annotations

from collections import UserList, deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit import output_law
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential, Laplace, PermuteAndFlip
from discreet.mechanisms.values import Lattice

INTEGERS = Lattice(step=Fraction(1), integers=True)
REALS = Lattice(step=Fraction(1024), integers=False)
# Next to powers of two the spacing of floats doubles, and with it what rounding may move.
AT_BINADES = st.builds(
    lambda sign, power, offset: sign * (2**power + offset),
    st.sampled_from([-1, 1]),
    st.integers(50, 63),
    st.integers(-4096, 4096),
)


@given(
    value=st.integers(-(2**70), 2**70) | AT_BINADES,
    move=st.integers(-1024, 1024),
    other=st.floats(-1e6, 1e6),
)
def test_integers_next_to_floats_do_not_stretch(value, move, other):
    near, far = REALS.enter([value, other]), REALS.enter([value + move, other])
    assert np.abs(near - far).sum() <= 1


@given(value=st.integers(-(2**70), 2**70), move=st.integers(-5, 5))
def test_integers_move_as_far_as_they_do(value, move):
    for kind in (lambda x: x, lambda x: [x, 1], lambda x: (x,)):
        distance = np.abs(INTEGERS.enter(kind(value)) - INTEGERS.enter(kind(value + move))).sum()
        assert distance <= abs(move)


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip])
def test_mixed_lists_keep_the_promise_across_a_binade(mechanism):
    """2^61 and its neighbors are rounded by floats; the clamp comes first."""
    selection = mechanism(sensitivity=1024.0, grid=1024, epsilon=1, monotone=True)
    other = float(2**61 + 5 * 1024)
    p = output_law(selection.release, [2305843009213693185, other])
    q = output_law(selection.release, [2305843009213694209, other])
    assert p.masses.keys() == q.masses.keys()
    for outcome, mass in p.masses.items():
        assert mass <= q.masses[outcome] * Fraction(2718281829, 10**9)
        assert q.masses[outcome] <= mass * Fraction(2718281829, 10**9)


@pytest.mark.parametrize("container", [deque, UserList, set, iter, dict.fromkeys])
@pytest.mark.parametrize("item", [1, 2**70])
def test_other_containers_are_refused_by_type_whatever_they_hold(container, item):
    with pytest.raises(ParameterError, match="value is a"):
        Laplace(sensitivity=1, epsilon=1).release(container([item]))


def test_a_masked_array_is_refused_for_what_lies_under_the_mask():
    with pytest.raises(ParameterError, match="value"):
        Laplace(sensitivity=1, epsilon=1).release(np.ma.masked_array([5, 7], mask=[0, 1]))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("typed", [0.3, 0.1, 1 / 3, 2.7])
def test_a_sensitivity_covers_the_same_number_as_a_value(kind, typed):
    number = kind(typed)
    mechanism = Laplace(sensitivity=number, epsilon=1)
    steps = mechanism.lattice.enter(float(number)) - mechanism.lattice.enter(0.0)
    assert int(steps) * mechanism.grid <= mechanism.event.sensitivity


@pytest.mark.parametrize("settings", ["raise", "warn"])
@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip])
def test_numpy_error_settings_do_not_turn_scores_into_errors(mechanism, settings):
    selection = mechanism(sensitivity=1, epsilon=1)
    with np.errstate(all=settings):
        for gap in (0, 700, 1417, 1450, 1500, 1535, 2000, 10**9, 2**60):
            selection.release([0, gap])


def test_pandas_and_polars_enter_by_their_arrays():
    pandas = pytest.importorskip("pandas")
    assert Laplace(sensitivity=1, epsilon=1).release(pandas.Series([1, 2, 3])).shape == (3,)
