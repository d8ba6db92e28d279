"""Whole curves against closed forms, each point priced once, and sound between their points."""

from __future__ import annotations

import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import curve as curve_of
from discreet.accounting import delta, epsilon, profile
from discreet.accounting.curves import Profile, joined_profiles
from discreet.errors import ParameterError
from discreet.privacy import events

RUN = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
GAUSSIAN = events.Gaussian(noise_multiplier=2) * 3
LAPLACE = events.Laplace(epsilon=1)
HALVES = events.Pure(epsilon=0.5) * 7


def gaussian_delta(at):
    with mpmath.workdps(50):  # a float means its shortest decimal
        at, mu = mpmath.mpf(repr(float(at))), mpmath.sqrt(3) / 2
        far = at / mu
        return mpmath.ncdf(mu / 2 - far) - mpmath.exp(at) * mpmath.ncdf(-mu / 2 - far)


def laplace_delta(at):
    return max(mpmath.mpf(0), 1 - mpmath.exp((mpmath.mpf(float(at)) - 1) / 2))


def halves_delta(at):
    """Seven losses of plus or minus a half: the binomial law, by definition."""
    up = 1 / (1 + mpmath.exp(-mpmath.mpf("0.5")))
    losses = [(k - (7 - k)) * mpmath.mpf("0.5") for k in range(8)]
    masses = [mpmath.binomial(7, k) * up**k * (1 - up) ** (7 - k) for k in range(8)]
    at = mpmath.mpf(float(at))
    return sum(mass * max(0, 1 - mpmath.exp(at - loss)) for loss, mass in zip(losses, masses, strict=True))


EXACT = [(GAUSSIAN, gaussian_delta), (LAPLACE, laplace_delta), (HALVES, halves_delta)]


@pytest.mark.parametrize(("event", "exact"), EXACT, ids=["gaussian", "laplace", "binomial"])
def test_a_profile_holds_the_exact_deltas(event, exact):
    points = np.linspace(0, 3, 13)
    found = profile(event, epsilons=points)
    assert isinstance(found, Profile)
    assert found.certified
    assert found.neighbors == event.neighbors
    for at, lower, upper in zip(points, found.lower, found.upper, strict=True):
        assert lower <= exact(at) <= upper
        assert upper - lower <= 2e-3 * upper + 1e-12


@pytest.mark.parametrize(("event", "exact"), EXACT, ids=["gaussian", "laplace", "binomial"])
def test_a_curve_holds_the_epsilons_that_invert_the_exact_deltas(event, exact):
    deltas = [1e-8, 1e-4, 0.1, 0.3, 0.9]
    found = curve_of(event, deltas=deltas)
    for target, lower, upper in zip(deltas, found.lower, found.upper, strict=True):
        assert exact(upper) <= target * (1 + 1e-9)
        assert lower == 0 or exact(lower * (1 - 1e-9)) >= target * (1 - 1e-9)
        assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize(("event", "exact"), EXACT, ids=["gaussian", "laplace", "binomial"])
@given(at=st.floats(0, 4))
def test_between_its_points_a_profile_is_an_upper_bound(event, exact, at):
    found = PROFILES[event]
    assert exact(at) <= found(at)
    assert found(at) <= exact(max(at - 0.25, 0)) * (1 + 2e-3)
    assert exact(at + 4) <= found(at + 4)


PROFILES = {event: profile(event, epsilons=np.linspace(0, 4, 17)) for event, _ in EXACT}


def test_before_the_first_point_and_beyond_the_last():
    found = profile(GAUSSIAN, epsilons=[2, 1])
    assert found(0.5) == 1.0
    assert found(7) == found(2.0) == found.upper[0]
    assert found(1.0) == found.upper[1]
    with pytest.raises(ParameterError, match=r"^epsilon "):
        found(-0.1)


def test_points_far_out_do_not_overflow():
    found = profile(events.Gaussian(noise_multiplier=Fraction(1, 30)), epsilons=[0, 400, 900])
    assert 0 <= found(850.0) <= found(650.0) <= 1


def test_the_order_of_the_question_is_kept_and_each_point_is_priced_once(monkeypatch):
    asked = []

    def counting(event, *, delta, width, runs):
        asked.append(delta)
        return epsilon(event, delta=delta)

    monkeypatch.setattr(sys.modules["discreet.accounting.curves"], "epsilon_within", counting)
    found = curve_of(GAUSSIAN, deltas=[0.9, 1e-5, 1e-3, 1e-5, "1/1000", 0.95])
    # 0.9 has epsilon 0, so 0.95 is not asked for; equal numbers are asked for once, however typed.
    assert sorted(float(one) if not isinstance(one, str) else 1e-3 for one in asked) == [1e-5, 1e-3, 0.9]
    assert found.deltas.tolist() == [0.9, 1e-5, 1e-3, 1e-5, 1e-3, 0.95]
    assert found.upper[1] == found.upper[3] == float(epsilon(GAUSSIAN, delta=1e-5))
    assert found.upper[2] == found.upper[4]
    assert found.upper[0] == found.upper[5] == 0
    assert found.lower[0] == found.lower[5] == 0


def test_bounds_fall_and_are_those_of_the_accountant_or_better():
    points = np.linspace(0, 2, 9)
    found = profile(RUN, epsilons=points)
    assert np.all(np.diff(found.upper) <= 0)
    assert np.all(np.diff(found.lower) <= 0)
    assert np.all(found.lower <= found.upper)
    for at, lower, upper in zip(points, found.lower, found.upper, strict=True):
        single = delta(RUN, epsilon=float(at))
        assert upper <= single.upper
        assert lower >= single.lower


def test_at_the_largest_loss_delta_is_zero_and_nothing_is_computed():
    found = profile(HALVES, epsilons=["3.5", 3.6, 1e6])
    assert found.upper.tolist() == [0, 0, 0]
    assert found.method == "largest loss"


def test_what_is_left_out_is_chosen_well():
    found = profile(RUN)
    assert found.epsilons[0] == 0
    assert found.upper[-1] <= 1.01e-12
    ends_at_zero = profile(HALVES)
    assert ends_at_zero.upper[-1] == 0
    assert ends_at_zero.epsilons[-1] == 3.5
    never = profile(events.Approximate(epsilon=0.1, delta=1e-4) * 5)
    assert never.upper[-1] == pytest.approx(5e-4, rel=2e-3)
    drawn = curve_of(GAUSSIAN)
    assert drawn.deltas.min() == pytest.approx(1e-12)
    assert np.all(np.diff(drawn.upper) <= 0)


def test_corners_are_convex_over_the_exponential():
    rough = Profile(
        epsilons=np.array([2.0, 0.0, 1.0, 1.5, 3.0]),
        lower=np.zeros(5),
        upper=np.array([0.1, 0.8, 0.79, 0.3, 0.1]),
        method="",
        neighbors=None,
        certified=False,
    )
    points, bounds = rough.corners
    slopes = np.diff(bounds) / np.diff(np.exp(points))
    assert np.all(np.diff(slopes) >= 0)
    assert set(zip(points, bounds, strict=True)) <= set(zip(rough.epsilons, rough.upper, strict=True))
    assert rough(1.0) < 0.79
    share = (np.e - 1) / (np.exp(1.5) - 1)
    assert rough(1.0) == pytest.approx(0.8 * (1 - share) + 0.3 * share)


def test_two_profiles_of_one_event_join():
    first, second = profile(HALVES, epsilons=[2, 0]), profile(HALVES, epsilons=[1, 3])
    both = joined_profiles(first, second)
    assert both.epsilons.tolist() == [0, 1, 2, 3]
    whole = profile(HALVES, epsilons=[0, 1, 2, 3])
    assert both.upper.tolist() == whole.upper.tolist()
    assert both.lower.tolist() == whole.lower.tolist()


def test_arrays_are_read_only():
    found = profile(LAPLACE, epsilons=[0.5])
    with pytest.raises(ValueError, match="read-only"):
        found.upper[0] = 0


@pytest.mark.parametrize("bad", [[], 0.5, "0.5", [-1], [float("nan")], [float("inf")], [True], ["x"]])
def test_bad_epsilons(bad):
    with pytest.raises(ParameterError, match=r"^epsilons? "):
        profile(RUN, epsilons=bad)


@pytest.mark.parametrize("bad", [[], 0.5, [1], [1.5], [-1e-9], [float("nan")], [None]])
def test_bad_deltas(bad):
    with pytest.raises(ParameterError, match=r"^deltas? "):
        curve_of(RUN, deltas=bad)


def test_what_is_no_event():
    for function in (curve_of, profile):
        with pytest.raises(ParameterError, match=r"^event is not an event"):
            function("run")


def test_they_are_printed_as_sentences():
    normal = events.Gaussian(noise_multiplier=1)
    assert str(profile(normal, epsilons=[1, 0])) == (
        "delta at 2 epsilons (add-remove person): at most 0.382925 at epsilon 0 and 0.126937 at epsilon 1"
    )
    assert str(curve_of(normal, deltas=[1e-5])) == (
        "epsilon at 1 delta (add-remove person): at most 4.37718 at delta 1e-05"
    )
