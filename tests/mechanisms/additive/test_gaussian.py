"""The Gaussian mechanism: its three calibrations against independent computations."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian
from discreet.mechanisms.additive.gaussian_calibration import (
    analytic_variance,
    largest_rho,
    profile,
    rho_delta,
)
from discreet.mechanisms.additive.gaussian_privacy import delta_of, largest_mu
from discreet.privacy import events
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, ZeroConcentratedDP
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.sensitivity import Sensitivity, disjoint_counts
from significance import FALSE_ALARM, fit_p_value

positive = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=1000)


def divergence(variance: Fraction, shift: int, epsilon: Fraction) -> mpmath.mpf:
    """Hockey-stick divergence of the discrete Gaussian and its shift, summed over all y by definition."""
    with mpmath.workdps(60):
        spread = mpmath.mpf(variance.numerator) / variance.denominator
        reach = int(mpmath.sqrt(spread) * 45) + shift + 5
        weight = {
            y: mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * spread)) for y in range(-reach - shift, reach + 1)
        }
        factor = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        excess = sum(max(weight[y] - factor * weight[y - shift], 0) for y in range(-reach, reach + 1))
        return excess / sum(weight.values())


def continuous_delta(sigma: float, epsilon: float) -> mpmath.mpf:
    """Balle & Wang's closed form for continuous noise at sensitivity 1."""
    with mpmath.workdps(40):
        cdf = mpmath.ncdf
        s, e = mpmath.mpf(sigma), mpmath.mpf(epsilon)
        return cdf(1 / (2 * s) - e * s) - mpmath.exp(e) * cdf(-1 / (2 * s) - e * s)


def test_faces():
    mechanism = Gaussian(sensitivity=1, rho=Fraction(1, 8))
    assert mechanism.event == events.DiscreteGaussian(squared_sensitivity=1, variance=4)
    assert mechanism.guarantee == ZeroConcentratedDP(rho=Fraction(1, 8))
    assert type(mechanism.release(5)) is int
    assert Gaussian(sensitivity=1, sigma=2) == mechanism


@given(sensitivity=positive, rho=positive, size=st.integers(1, 40))
def test_rounding_is_charged_and_rho_holds_for_reals(sensitivity, rho, size):
    mechanism = Gaussian(sensitivity=sensitivity, rho=rho, size=size)
    assert mechanism.guarantee.rho == rho
    assert mechanism.event.rho == rho
    assert mechanism.event.squared_sensitivity >= sensitivity**2
    assert mechanism.event.squared_sensitivity <= sensitivity**2 * (1 + Fraction(1, 1000))


@given(sensitivity=positive, sigma=positive)
def test_sigma_is_kept_as_given(sensitivity, sigma):
    mechanism = Gaussian(sensitivity=sensitivity, sigma=sigma)
    assert mechanism.event.variance == sigma**2
    assert mechanism.guarantee.rho == mechanism.event.rho


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(179, 10), Fraction(900)])
@pytest.mark.parametrize("shift", [1, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_profile_equals_the_divergence_by_definition(variance, shift, epsilon):
    expected = divergence(variance, shift, epsilon)
    assert profile(variance, shift, float(epsilon)) == pytest.approx(float(expected), rel=1e-10, abs=1e-300)
    # Noise is symmetric, so the other direction has the same divergence; a larger shift is worse.
    assert divergence(variance, shift, epsilon) <= divergence(variance, shift + 1, epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_profile_beyond_the_summed_range_meets_the_closed_form(epsilon):
    shift = 1 << 20
    for multiplier in (0.5, 1.0, 4.0):
        variance = Fraction(multiplier * shift) ** 2
        expected = float(continuous_delta(multiplier, epsilon))
        assert profile(variance, shift, epsilon) == pytest.approx(expected, rel=1e-6)


def test_profile_agrees_on_both_sides_of_the_summed_range():
    below, above = Fraction(4096**2), Fraction(4096**2) + Fraction(1, 1000)
    for shift in (100, 1000, 5000):
        for epsilon in (0.01, 0.5, 2.0):
            assert profile(below, shift, epsilon) == pytest.approx(
                profile(above, shift, epsilon), rel=1e-6, abs=1e-290
            )


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-6), (1, 1e-10), (0.5, 1e-2), (5, 1e-5)])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_analytic_noise_is_the_smallest_that_suffices(epsilon, delta, sensitivity):
    mechanism = Gaussian(sensitivity=sensitivity, epsilon=epsilon, delta=delta, size=1)
    exact = Fraction(str(epsilon))
    assert divergence(mechanism.event.variance, sensitivity, exact) <= delta
    less = mechanism.event.variance * Fraction(9999, 10_000)
    assert divergence(less, sensitivity, exact) > delta
    assert mechanism.guarantee == ApproximateDP(epsilon=epsilon, delta=delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"), [(1, 1e-6, 4.2247), (1, 1e-5, 3.7306), (0.5, 1e-6, 8.0577)]
)
def test_real_values_reach_the_continuous_optimum(epsilon, delta, sigma):
    mechanism = Gaussian(sensitivity=1.0, epsilon=epsilon, delta=delta)
    assert float(continuous_delta(mechanism.sigma, epsilon)) == pytest.approx(delta, rel=1e-4)
    assert mechanism.sigma == pytest.approx(sigma, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-6), (1, 0.1), (0.01, 1e-12)])
def test_classical_noise_suffices_and_is_never_the_smallest(epsilon, delta):
    classical = Gaussian.classical(sensitivity=1, epsilon=epsilon, delta=delta, size=1)
    analytic = Gaussian(sensitivity=1, epsilon=epsilon, delta=delta, size=1)
    expected = 2 * mpmath.log(2 / mpmath.mpf(delta)) / mpmath.mpf(epsilon) ** 2
    assert float(classical.event.variance) == pytest.approx(float(expected), rel=1e-10)
    assert analytic.event.variance < classical.event.variance
    assert profile(classical.event.variance, 1, epsilon) <= delta
    # For vectors: through zero-concentrated privacy.
    assert rho_delta(float(classical.event.rho), epsilon) <= delta


def test_classical_formula_needs_a_small_epsilon():
    with pytest.raises(ParameterError, match="epsilon"):
        Gaussian.classical(sensitivity=1, epsilon=1.01, delta=1e-6)


@given(
    epsilon=st.floats(0.01, 10),
    rho=st.floats(1e-6, 5),
)
@settings(max_examples=50)
def test_conversion_from_rho_covers_continuous_gaussians(epsilon, rho):
    """Gaussian noise with sigma = 1 / sqrt(2 rho) is rho-zCDP, so its delta is below the conversion's."""
    sigma = (1 / (2 * rho)) ** 0.5
    assert float(continuous_delta(sigma, epsilon)) <= rho_delta(rho, epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_integer_vectors_have_the_analytic_noise(size, epsilon, delta):
    mechanism = Gaussian(sensitivity=2, epsilon=epsilon, delta=delta, size=size)
    assert isinstance(mechanism.event, events.RoundedGaussian)
    sigma = mechanism.sigma / 2
    assert continuous_delta(sigma, epsilon) <= delta < continuous_delta(sigma * (1 - 1e-7), epsilon)
    by_rho = 2 / largest_rho(Fraction(epsilon), Fraction(delta))
    assert 1 < by_rho / mechanism.event.variance < 2


def rounded_law(variance: Fraction, reach: int) -> np.ndarray:
    """The masses of round(sigma Z) on -reach, …, reach, by the error function, small tails first."""
    from scipy.special import ndtr

    edges = (np.arange(reach + 2) - 0.5) / float(variance) ** 0.5
    half = ndtr(-edges[:-1]) - ndtr(-edges[1:])
    return np.concatenate([half[:0:-1], half])


@pytest.mark.parametrize("shift", [(2, 0), (1, 1), (1, 0), (0, 2), (2, 1), (-1, 2)])
@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 1e-3), (0.5, 0.02), (6.0, 1e-4)])
def test_rounded_vectors_are_private_by_brute_force_in_two_dimensions(shift, epsilon, delta):
    """The hockey-stick divergence of two planes of masses, by definition: no loss has to be sorted."""
    squared = sum(step**2 for step in shift)
    steps = [abs(step) for step in shift if step]
    bound = Sensitivity(l0=len(steps), l1=sum(steps), squared_l2=squared, linf=max(steps), integers=True)
    mechanism = Gaussian(sensitivity=bound, epsilon=epsilon, delta=delta, size=2)
    if not isinstance(mechanism.event, events.RoundedGaussian):
        assert squared == 1
        mechanism = Gaussian(sensitivity=bound, mu=float(mechanism.event.rho * 2) ** 0.5, size=2)
        delta = float(continuous_delta(mechanism.sigma, epsilon)) * (1 + 1e-9)
    reach = int(10 * mechanism.sigma) + 3
    law = rounded_law(mechanism.event.variance, reach)
    assert law.sum() == pytest.approx(1)
    centered = np.zeros(len(law) + 8)
    centered[4:-4] = law
    moved = [np.roll(centered, step) for step in shift]
    plane, other = np.outer(centered, centered), np.outer(*moved)
    for p, q in ((plane, other), (other, plane)):
        assert np.maximum(p - np.exp(epsilon) * q, 0).sum() <= delta


def test_less_noise_than_the_analytic_is_caught_in_two_dimensions():
    """Plant the bug: a tenth less noise than (epsilon, delta) takes exceeds delta on wide shifts."""
    from scipy.special import ndtr

    mechanism = Gaussian(sensitivity=20, epsilon=1, delta=1e-3, size=2)
    for factor, holds in ((1.0, True), (0.9, False)):
        sigma = mechanism.sigma * factor
        edges = (np.arange(-1000, 1001) - 0.5) / sigma
        law, moved = np.diff(ndtr(edges)), np.diff(ndtr(edges - 12 / sigma))
        other = np.diff(ndtr(edges - 16 / sigma))
        p, q = np.outer(law, law), np.outer(moved, other)
        assert (np.maximum(p - np.exp(1) * q, 0).sum() <= 1e-3) == holds


def test_mu_is_kept_as_given_and_noise_alike_has_its_own():
    mechanism = Gaussian(sensitivity=3, mu=Fraction(1, 2), size=4)
    assert mechanism.guarantee == GaussianDP(mu=Fraction(1, 2))
    assert mechanism.event == events.RoundedGaussian(squared_sensitivity=9, variance=36, size=4)
    bound = Sensitivity(l0=2, l1=2, squared_l2=2, linf=1, integers=True)
    alike = mechanism.alike(sensitivity=bound, size=2)
    assert alike.event == events.RoundedGaussian(squared_sensitivity=2, variance=36, size=2)
    assert alike.guarantee.mu**2 >= Fraction(2, 36)
    discrete = Gaussian(sensitivity=3, rho=Fraction(1, 8), size=4).alike(sensitivity=bound, size=2)
    assert discrete == Gaussian(sensitivity=bound, rho=Fraction(1, 36), size=2)


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 2), Fraction(10)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**100), Fraction(1, 10**9), Fraction(1, 2)])
def test_the_largest_mu_is_certified_and_the_largest(epsilon, delta):
    mu = largest_mu(epsilon, delta)
    with mpmath.workdps(300):
        m, e = (mpmath.mpf(x.numerator) / x.denominator for x in (mu, epsilon))
        bound = mpmath.mpf(delta.numerator) / delta.denominator

        def exact(mu):
            return mpmath.erfc((e / mu - mu / 2) / mpmath.sqrt(2)) / 2 - mpmath.exp(e) * (
                mpmath.erfc((e / mu + mu / 2) / mpmath.sqrt(2)) / 2
            )

        assert exact(m) <= bound < exact(m * (1 + mpmath.mpf(10) ** -7))
        low, top = delta_of(mu, epsilon)
        assert low <= mpmath.ldexp(exact(m), 640) <= top


def test_a_mu_beyond_what_can_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="delta"):
        largest_mu(Fraction(1), Fraction(1, 10**200))
    with pytest.raises(ParameterError):
        Gaussian(sensitivity=2, epsilon=Fraction(1, 10**30), delta=Fraction(1, 10**50))
    assert largest_mu(Fraction(1000), Fraction(1, 10)) == largest_mu(Fraction(100), Fraction(1, 10))


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [Fraction(1, 2), 3, 1000])
def test_releases_follow_the_law_of_the_event(sigma):
    mechanism = Gaussian(sensitivity=1, sigma=sigma)
    noise = mechanism.release(np.full(300_000, -4)) + 4
    spread = float(mechanism.event.variance)
    reach = int(15 * spread**0.5) + 5
    support = np.arange(-reach, reach + 1)
    law = np.exp(-(support.astype(float) ** 2) / (2 * spread))
    cumulative = np.concatenate([[0.0], np.cumsum(law / law.sum())])

    def mass(low, high):
        return (
            cumulative[min(max(high + reach, 0), 2 * reach + 1)]
            - cumulative[min(max(low + reach, 0), 2 * reach + 1)]
        )

    width = max(1, int(spread**0.5 / 4))
    assert fit_p_value(noise, mass, np.arange(-20 * width, 21 * width, width)) > FALSE_ALARM


def test_for_error_is_the_smallest_epsilon():
    mechanism = Gaussian.for_error(10, confidence=0.99, delta=1e-6)
    assert mechanism.error.tail(10) <= 0.01
    assert mechanism.guarantee.epsilon > 0
    cheaper = Gaussian(sensitivity=1, epsilon=mechanism.guarantee.epsilon * Fraction(999, 1000), delta=1e-6)
    assert cheaper.error.tail(10) > 0.01


def test_a_sensitivity_keeps_the_root_of_two():
    mechanism = Gaussian(sensitivity=disjoint_counts(5, neighbors=REPLACE_ROW), rho=Fraction(1, 2))
    assert mechanism.event.squared_sensitivity == 2
    assert mechanism.event.variance == 2
    assert mechanism.guarantee.neighbors == REPLACE_ROW


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"epsilon": 1},
        {"delta": 1e-6},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 0, "delta": 1e-6},
        {"epsilon": float("nan"), "delta": 1e-6},
        {"epsilon": 1e9, "delta": 1e-6},
        {"epsilon": 1, "delta": 1e-300},
        {"rho": 0},
        {"rho": -1},
        {"rho": float("inf")},
        {"rho": 1e-30},
        {"rho": 1e9},
        {"sigma": 0},
        {"sigma": 1e-9},
        {"sigma": 1e30},
        {"rho": 1, "sigma": 1},
        {"epsilon": 1, "delta": 1e-6, "rho": 1},
    ],
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        Gaussian(sensitivity=1, **parameters)


@pytest.mark.parametrize("sensitivity", [0, -1, float("nan"), float("inf"), True, None, "x", 1e300])
def test_bad_sensitivities_are_refused(sensitivity):
    with pytest.raises(ParameterError):
        Gaussian(sensitivity=sensitivity, epsilon=1, delta=1e-6)


def test_analytic_variance_is_rounded_up_to_a_short_decimal():
    variance = analytic_variance(1, Fraction(1), Fraction(1, 10**6))
    assert len(str(float(variance)).replace(".", "")) <= 12
    assert profile(variance, 1, 1.0) <= 1e-6


@pytest.mark.parametrize("sensitivity", [10, 1.0, Fraction(7, 3)])
def test_audits_see_the_whole_sensitivity(sensitivity):
    mechanism = Gaussian(sensitivity=sensitivity, sigma=5)
    zero, apart = mechanism.neighboring_inputs()[0]
    assert Fraction(apart) - Fraction(zero) >= Fraction(str(float(sensitivity))) * Fraction(999, 1000)


@pytest.mark.parametrize(
    ("shift", "epsilon", "delta"),
    [(1, "2.5382e-05", "5.33e-100"), (1, "1e-4", "1e-12"), (242484, "2.7367e-05", "5.71e-90")],
)
def test_tiny_losses_do_not_cancel(shift, epsilon, delta):
    """Two tails that nearly agree are subtracted; what they are off by must be on our side."""
    variance = analytic_variance(shift, Fraction(epsilon), Fraction(delta))
    with mpmath.workdps(80):
        spread, e = mpmath.mpf(variance.numerator) / variance.denominator, mpmath.mpf(epsilon)
        sigma = mpmath.sqrt(spread)
        edge = mpmath.floor(e * spread / shift - mpmath.mpf(shift) / 2)

        def tail(m):  # Euler-Maclaurin with two corrections, in high precision
            x = (m + mpmath.mpf("0.5")) / sigma
            density = mpmath.exp(-x * x / 2) / (sigma * mpmath.sqrt(2 * mpmath.pi))
            first = -x / sigma * density / 24
            third = (3 * x - x**3) / sigma**3 * density * (-7) / 5760
            return mpmath.ncdf(-x) + first + third

        exact = tail(edge) - mpmath.exp(e) * tail(edge + shift)
    assert exact <= mpmath.mpf(delta)
    assert exact >= mpmath.mpf(delta) * (1 - mpmath.mpf("1e-3"))
