"""The shared bound of concentrated noise."""

from __future__ import annotations

from fractions import Fraction
from math import expm1

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import ArcsinhNormal, LaplaceLogNormal, UniformLogNormal
from discreet.mechanisms.admissible.concentrated import check_spread, path_factor
from mechanisms.admissible import divergences


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=20))
def test_the_path_factor_is_rounded_up(t):
    exact = float(t) / expm1(float(t))
    assert exact * (1 - 1e-12) <= float(path_factor(t)) <= exact * (1 + 1e-9)
    assert path_factor(t) <= 1


def test_without_a_dilation_the_path_is_straight():
    assert path_factor(Fraction(0)) == 1


LAWS = {
    "laplace-log-normal": (LaplaceLogNormal, divergences.laplace_log_normal),
    "uniform-log-normal": (UniformLogNormal, divergences.uniform_log_normal),
    "arcsinh-normal": (ArcsinhNormal, divergences.arcsinh_normal),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sigma", [0.3, 0.6, 1.2])
@pytest.mark.parametrize(("a", "u"), [(1, 0), (0, 1), (0.3, 0.1), (0.05, 0.2), (0.5, 0.02)])
def test_the_score_of_every_move_is_sub_gaussian(law, sigma, a, u):
    """log E exp(l psi) <= l^2 rho, psi the score of the path that slides at rate a and stretches at rate u.

    The budget of a shift a / k and a dilation u bounds it: the path to there slides at rate a.
    """
    family, density = LAWS[law]
    level = np.linspace(-14, 34, 24001)  # log z
    z = np.exp(level)
    log_density = density(sigma)(z)
    rise = np.gradient(log_density, level)
    mass = log_density + level + np.log(level[1] - level[0])
    shift = a / float(path_factor(Fraction(str(u))))
    rho = float(family(spread=sigma).budget(shift=shift, dilation=u).rho)
    for multiple in (-40.0, -10.0, -3.0, -0.5, 0.5, 3.0, 10.0, 40.0):
        slid, stretched = -multiple * a * rise / z, multiple * u * (-1 - rise)
        total = special.logsumexp(np.concatenate([mass + stretched + slid, mass + stretched - slid]))
        assert total <= multiple**2 * rho * (1 + 1e-6) + 1e-6


@given(st.fractions(min_value=0, max_value=2), st.fractions(min_value=0, max_value=2))
def test_the_cost_never_falls_as_moves_grow(s, t):
    noise = LaplaceLogNormal(spread=Fraction(1, 2))
    cost = noise.budget(shift=s, dilation=t).rho
    assert noise.budget(shift=s + Fraction(1, 10), dilation=t).rho >= cost
    assert noise.budget(shift=s, dilation=t + Fraction(1, 10)).rho >= cost * (1 - Fraction(1, 10**12))


@pytest.mark.parametrize("spread", ["0.009", "4.1", "0", "-1"])
def test_spreads_out_of_range_are_refused(spread):
    with pytest.raises(ParameterError, match="spread"):
        check_spread(spread)
