from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from discreet.audit.claims import check_claim, delta_of_mu, points
from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP


def gaussian_profile(mu, epsilon):
    """The delta of two normal laws at distance mu, in high precision."""
    mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
    near, far = mpmath.ncdf(mu / 2 - epsilon / mu), mpmath.ncdf(-mu / 2 - epsilon / mu)
    return near - mpmath.exp(epsilon) * far


def test_pure_and_approximate_claims_are_one_point_rounded_in_their_favor():
    [(epsilon, delta)] = points(PureDP(epsilon=Fraction(1, 3)))
    assert Fraction(epsilon) >= Fraction(1, 3)
    assert epsilon == pytest.approx(1 / 3)
    assert delta == 0
    [(epsilon, delta)] = points(ApproximateDP(epsilon=1, delta=Fraction(1, 10**6)))
    assert epsilon >= 1
    assert Fraction(delta) >= Fraction(1, 10**6)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 4.0])
def test_gaussian_profile_is_rounded_up_and_tight(mu):
    with mpmath.workprec(200):
        for epsilon in (0.0, 0.1, 1.0, 5.0):
            exact = gaussian_profile(mu, epsilon)
            assert exact <= delta_of_mu(mu, epsilon) <= exact + 1e-8


@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 8), Fraction(2)])
def test_a_zero_concentrated_claim_allows_what_a_gaussian_does(rho):
    """Normal noise is rho-zCDP exactly: no implied point may contradict its own profile."""
    mu = mpmath.sqrt(2 * mpmath.mpf(rho.numerator) / rho.denominator)
    curve = points(ZeroConcentratedDP(rho=rho))
    with mpmath.workprec(200):
        assert all(gaussian_profile(mu, epsilon) <= delta for epsilon, delta in curve)
    deltas = [delta for _, delta in curve]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[-1] < 1e-5


def test_a_renyi_claim_allows_what_a_gaussian_does():
    with mpmath.workprec(200):
        for order in (Fraction(3, 2), Fraction(2), Fraction(20)):
            curve = points(RenyiDP(order=order, epsilon=order / 8))
            assert all(gaussian_profile("0.5", epsilon) <= delta for epsilon, delta in curve)
            assert curve[-1][1] < 1e-5


def test_a_gaussian_claim_is_its_profile():
    with mpmath.workprec(200):
        for epsilon, delta in points(GaussianDP(mu=1)):
            assert gaussian_profile(1, epsilon) <= delta <= gaussian_profile(1, epsilon) + 1e-8


def test_zero_claims_have_points():
    for claim in (ZeroConcentratedDP(rho=0), GaussianDP(mu=0)):
        assert all(epsilon == 0 and 0 <= delta <= 1 for epsilon, delta in points(claim))


def test_what_is_no_guarantee_is_refused():
    for claim in (None, 1.0, "PureDP"):
        with pytest.raises(ParameterError, match="claim"):
            check_claim(claim)
