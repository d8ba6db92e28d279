"""The choice of noise and decay from public facts."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isfinite

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import ArcsinhNormal, Cauchy, LaplaceNoise, Student, UniformLogNormal
from discreet.mechanisms.admissible.choice import best_noise, best_noise_and_decay, budget_for
from discreet.privacy.offer import Offer

PURE = Offer(epsilon=Fraction(1))
APPROXIMATE = Offer(epsilon=Fraction(1), delta=Fraction(1, 10**6))
CONCENTRATED = Offer(rho=Fraction(1, 2))
SLACK = Fraction(1, 2**39)


def deviation(noise, offer, dilation):
    return noise.typical / float(noise.largest_shift(dilation=dilation, **budget_for(noise, offer)))


@pytest.mark.parametrize("dilation", [Fraction(1, 1000), Fraction(1, 20), Fraction(1, 5)])
def test_no_other_degrees_or_powers_are_better_at_a_fixed_decay(dilation):
    noise, (rank, error) = best_noise(PURE, dilation)
    assert rank == 0
    assert error == pytest.approx(deviation(noise, PURE, dilation))
    others = [Student(degrees=d) for d in range(3, 60)] + [Cauchy(power=4), Cauchy(power=6)]
    for other in others:
        if other.largest_shift(epsilon=1, dilation=dilation):
            assert deviation(other, PURE, dilation) >= error * (1 - 1e-12)


@pytest.mark.parametrize("dilation", [Fraction(1, 100), Fraction(1, 10), Fraction(2, 5)])
def test_no_other_spread_is_much_better_at_a_fixed_decay(dilation):
    _, (_, error) = best_noise(CONCENTRATED, dilation)
    for family in (ArcsinhNormal, UniformLogNormal):
        for step in range(4, 60):
            other = family(spread=Fraction(step, 40))
            if other.largest_shift(rho=Fraction(1, 2), dilation=dilation):
                assert deviation(other, CONCENTRATED, dilation) >= error * (1 - 2e-3)


def test_what_is_chosen_where():
    assert isinstance(best_noise(CONCENTRATED, Fraction(1, 10))[0], ArcsinhNormal)
    assert isinstance(best_noise(APPROXIMATE, Fraction(1, 100))[0], LaplaceNoise)
    assert isinstance(best_noise(APPROXIMATE, Fraction(1, 10))[0], Student)


def test_a_law_without_a_variance_is_the_last_resort():
    """At epsilon = 1, degrees above 2 tolerate no dilation of 0.4."""
    noise, (rank, _) = best_noise(PURE, Fraction(2, 5))
    assert rank == 1
    assert not isfinite(noise.variance)
    assert isfinite(noise.mean_absolute)
    assert best_noise(PURE, Fraction(4, 5))[1][0] == 2
    with pytest.raises(ParameterError):
        best_noise(PURE, Fraction(2))


def test_budgets_are_translated_on_the_safe_side():
    pure = budget_for(Student(degrees=3), CONCENTRATED)["epsilon"]
    assert pure <= 1
    assert pure**2 / 2 <= Fraction(1, 2)
    assert budget_for(LaplaceNoise(), PURE) is None
    assert budget_for(ArcsinhNormal(spread=1), PURE) is None
    assert budget_for(ArcsinhNormal(spread=1), APPROXIMATE)["rho"] < Fraction(1, 10)


@pytest.mark.slow
@pytest.mark.parametrize("offer", [PURE, CONCENTRATED], ids=["pure", "concentrated"])
def test_the_decay_is_chosen_for_the_hinted_sensitivities(offer):
    """Local sensitivities that grow with the distance: neither the least nor the largest decay is best."""
    local = [min(1000.0, 0.1 * (1 + k) ** 1.5) for k in range(600)]
    noise, decay = best_noise_and_decay(offer, local, SLACK)

    def error(rate: Fraction) -> float:
        smooth = max(exp(-float(rate) * k) * size for k, size in enumerate(local))
        return best_noise(offer, rate + SLACK)[1][1] * smooth

    chosen = max(exp(-float(decay) * k) * size for k, size in enumerate(local)) * deviation(
        noise, offer, decay + SLACK
    )
    assert chosen == pytest.approx(error(decay))
    for factor in (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5), Fraction(5, 4)):
        assert error(decay * factor) >= chosen * (1 - 1e-3)


def test_constant_sensitivities_need_no_decay():
    noise, decay = best_noise_and_decay(PURE, [1.0], SLACK)
    assert decay < Fraction(1, 1000)
    assert deviation(noise, PURE, decay) < 1.76
