"""The Laplace mechanism: guarantee, charge for rounding, error before the run."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.mechanisms import Laplace
from discreet.noise import is_private, replay
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.sensitivity import disjoint_counts
from significance import FALSE_ALARM, fit_p_value

positive = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=1000)


def test_three_faces_of_the_readme():
    mechanism = Laplace(sensitivity=1, epsilon=0.5)
    assert mechanism.event == events.DiscreteLaplace(sensitivity=1, scale=2)
    assert mechanism.guarantee == PureDP(epsilon=Fraction(1, 2))
    assert mechanism.error.quantile(0.95) == 6
    assert type(mechanism.release(1234)) is int
    assert Laplace(sensitivity=1, scale=2) == mechanism


@given(sensitivity=st.integers(1, 20), epsilon=positive)
def test_epsilon_is_exact_for_integers(sensitivity, epsilon):
    mechanism = Laplace(sensitivity=sensitivity, epsilon=epsilon)
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.event.pure_epsilon == epsilon
    assert Fraction(mechanism.epsilon) >= epsilon


@given(sensitivity=positive, epsilon=positive, size=st.integers(1, 50))
def test_rounding_is_charged_and_epsilon_holds_for_reals(sensitivity, epsilon, size):
    mechanism = Laplace(sensitivity=sensitivity, epsilon=epsilon, size=size)
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.event.sensitivity >= sensitivity
    assert mechanism.event.sensitivity <= sensitivity * (1 + Fraction(1, 1000))
    assert mechanism.event.pure_epsilon <= epsilon


@given(
    sensitivity=positive,
    epsilon=positive,
    values=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8),
    shares=st.lists(st.floats(-1, 1), min_size=8, max_size=8),
)
def test_two_rounded_vectors_lie_within_the_charged_sensitivity(sensitivity, epsilon, values, shares):
    mechanism = Laplace(sensitivity=sensitivity, epsilon=epsilon, size=len(values))
    total = sum(abs(share) for share in shares[: len(values)]) or 1.0
    moved = [
        value + share / total * float(sensitivity) * (1 - 1e-9)
        for value, share in zip(values, shares, strict=False)
    ]
    distance = sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(values, moved, strict=True))
    steps = mechanism.lattice.enter(values) - mechanism.lattice.enter(moved)
    if distance <= sensitivity:
        assert int(np.abs(steps).sum()) * mechanism.grid <= mechanism.event.sensitivity


def test_additive_noise_has_no_memory_of_its_mean():
    """The mean of the noise is irrelevant; it is zero, so releases are unbiased."""
    mechanism = Laplace(sensitivity=1, epsilon=1)
    noise = mechanism.release(np.zeros(200_000, np.int64))
    assert abs(noise.mean()) < 7 * (mechanism.error.variance / len(noise)) ** 0.5


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 3), 1, 4])
def test_releases_follow_the_law_of_the_event(epsilon):
    mechanism = Laplace(sensitivity=2, epsilon=epsilon)
    scale = mechanism.scale
    noise = mechanism.release(np.full(300_000, 17)) - 17
    ratio = exp(-1 / scale)

    def mass(low, high):
        below = lambda k: ratio ** (1 - k) / (1 + ratio) if k <= 0 else 1 - ratio**k / (1 + ratio)  # noqa: E731
        return below(high) - below(low)

    width = max(1, int(scale / 4))
    assert fit_p_value(noise, mass, np.arange(-20 * width, 21 * width, width)) > FALSE_ALARM


def test_floats_leave_on_the_public_grid():
    mechanism = Laplace(sensitivity=0.3, epsilon=1, size=1000)
    for offset in (0.0, 0.1, 1e-300, -0.0, 123456.789):
        noisy = mechanism.release(np.full(1000, offset))
        assert all((Fraction(value) / mechanism.grid).denominator == 1 for value in noisy.tolist())


def test_clamping_is_silent_and_finite():
    mechanism = Laplace(sensitivity=1.0, epsilon=1)
    assert mechanism.release(1e308) == pytest.approx(float(mechanism.lattice.largest), rel=1e-6)
    integers = Laplace(sensitivity=1, epsilon=1)
    assert integers.release(10**30) == pytest.approx(2**62, rel=1e-6)
    assert integers.release(np.array([2**63 - 1, -(2**63)])) == pytest.approx([2**62, -(2**62)], rel=1e-6)
    long = integers.release([10**30, -1, -(10**400)])
    assert long == pytest.approx([2**62, 0, -(2**62)], rel=1e-6, abs=100)
    assert integers.release([2**63, -1]).dtype == np.int64
    assert integers.release(np.array([2**64 - 1], np.uint64)) == pytest.approx([2**62], rel=1e-6)


def test_shape_is_kept():
    mechanism = Laplace(sensitivity=1, epsilon=1)
    assert mechanism.release(np.zeros((3, 4), np.int32)).shape == (3, 4)
    assert mechanism.release([1, 2, 3]).shape == (3,)
    assert type(Laplace(sensitivity=0.5, epsilon=1).release(3.7)) is float
    assert type(Laplace(sensitivity=0.5, epsilon=1).release(3)) is float


def test_replayed_noise_is_marked():
    mechanism = Laplace(sensitivity=1, epsilon=1)
    with replay(7):
        first = mechanism.release(5)
    with replay(7):
        assert mechanism.release(5) == first
    assert not is_private(first)
    assert "not private" in repr(first)
    assert is_private(mechanism.release(5))


def test_a_sensitivity_brings_its_relation():
    mechanism = Laplace(sensitivity=disjoint_counts(5, neighbors=REPLACE_ROW), epsilon=1)
    assert mechanism.event.sensitivity == 2
    assert mechanism.guarantee.neighbors == REPLACE_ROW
    with pytest.raises(ParameterError, match="neighbors"):
        Laplace(sensitivity=disjoint_counts(5), epsilon=1, neighbors=REPLACE_ROW)


def test_epsilon_for_a_tolerated_error():
    """Which epsilon if the error may exceed 10 with probability 1e-5, at sensitivity 1?"""
    integers = Laplace.for_error(10, confidence=1 - 1e-5, sensitivity=1)
    reals = Laplace.for_error(10, confidence=1 - 1e-5, sensitivity=1.0)
    # Continuous noise: exp(-10 epsilon) = 1e-5. Integers: 2 r^11 / (1 + r) = 1e-5.
    assert reals.epsilon == pytest.approx(log(1e5) / 10, rel=1e-5)
    ratio = exp(-integers.epsilon)
    assert 2 * ratio**11 / (1 + ratio) == pytest.approx(1e-5, rel=1e-9)
    for mechanism in (integers, reals):
        assert mechanism.error.tail(10) <= 1e-5
        cheaper = Laplace(
            sensitivity=1 if mechanism is integers else 1.0, epsilon=mechanism.epsilon * (1 - 1e-6)
        )
        assert cheaper.error.tail(10) > 1e-5


@pytest.mark.statistical
def test_measured_tail_is_the_promised_one():
    mechanism = Laplace(sensitivity=1, epsilon=0.5)
    noise = np.abs(mechanism.release(np.zeros(1_000_000, np.int64)))
    for threshold in (0, 2, 5, 9):
        hits = int((noise > threshold).sum())
        expected = mechanism.error.tail(threshold)
        assert stats.binomtest(hits, len(noise), expected).pvalue > FALSE_ALARM
    assert stats.binomtest(int((noise > 5).sum()), len(noise), mechanism.error.tail(5) * 1.05).pvalue < 1e-6


BAD_NUMBERS = [
    0,
    -1,
    float("nan"),
    float("inf"),
    -float("inf"),
    True,
    None,
    "x",
    1e-300,
    1e300,
    [1],
    object(),
]


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize("name", ["sensitivity", "epsilon", "scale"])
def test_bad_parameters_are_refused_by_name(name, bad):
    parameters = {"sensitivity": 1, "epsilon": 1}
    if name == "scale":
        parameters = {"sensitivity": 1}
    parameters[name] = bad
    with pytest.raises(ParameterError) as refusal:
        Laplace(**parameters)
    assert refusal.value.parameter in {name, "scale", "epsilon"}
    assert refusal.value.allowed


@pytest.mark.parametrize("grid", [0, -1, 0.3, 3, float("nan"), 2.0**-1074])
def test_bad_grids_are_refused(grid):
    with pytest.raises(ParameterError):
        Laplace(sensitivity=1.0, epsilon=1, grid=grid)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, 10**15, "3"])
def test_bad_sizes_are_refused(size):
    with pytest.raises(ParameterError, match="size"):
        Laplace(sensitivity=1, epsilon=1, size=size)


SECRET = 987654321


@pytest.mark.parametrize(
    "value",
    [
        SECRET + 0.5,
        float("nan"),
        [],
        np.zeros(0),
        np.array([SECRET], object),
        np.array([True]),
        "987654321",
        None,
        SECRET + 1j,
        [[SECRET], [1, 2]],
        np.array([SECRET], np.longdouble),
        {SECRET: 1},
    ],
)
def test_bad_values_are_refused_without_being_quoted(value):
    with pytest.raises(ParameterError) as refusal:
        Laplace(sensitivity=1, epsilon=1).release(value)
    assert str(SECRET) not in str(refusal.value)
    assert str(SECRET) not in repr(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1.0, 2.0], np.array([np.nan])])
def test_bad_real_values_are_refused(value):
    with pytest.raises(ParameterError, match="value"):
        Laplace(sensitivity=1.0, epsilon=1).release(value)


def test_a_missing_or_double_parameter_is_refused():
    for parameters in ({}, {"epsilon": 1, "scale": 1}):
        with pytest.raises(ParameterError, match="epsilon"):
            Laplace(sensitivity=1, **parameters)
