"""Noises for counted keys against their definitions."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.keys.counting_noise import (
    CountingGaussian,
    CountingLaplace,
    CountingRounded,
    CountingTruncated,
)
from discreet.noise import current
from mechanisms.counting_noise_oracle import masses
from mechanisms.key_selection_oracle import real


@pytest.mark.parametrize("scale", [Fraction(1, 50), 1, Fraction(1000, 7)])
@pytest.mark.parametrize("reach", [1, 2, 30])
def test_truncated_noise_is_symmetric_and_falls_by_no_more_than_it_may(scale, reach):
    law = masses(CountingTruncated(scale=Fraction(scale), reach=reach))
    growth = mpmath.exp(1 / real(Fraction(scale)))
    assert sorted(law) == list(range(-reach, reach + 1))
    assert abs(mpmath.fsum(law.values()) - 1) < 1e-50
    for k in range(-reach, reach):
        assert law[k] <= growth * law[k + 1]
        assert law[k + 1] <= growth * law[k]
        assert abs(law[k] - law[-k]) < mpmath.mpf(2) ** -100


def test_tables_that_cannot_be_exact_are_refused():
    for reach in (0, 1 << 17):
        with pytest.raises(ParameterError):
            CountingTruncated(scale=Fraction(1), reach=reach)


NOISES = [
    CountingTruncated(scale=Fraction(3), reach=20),
    CountingLaplace(scale=Fraction(3)),
    CountingGaussian(variance=Fraction(7, 2)),
    CountingRounded(variance=Fraction(7, 2)),
]


@pytest.mark.parametrize("noise", NOISES)
def test_tails_and_draws_are_those_of_the_law(noise):
    law, least = masses(noise), np.arange(-30, 31)
    exact = [mpmath.fsum(one for k, one in law.items() if k >= m) for m in least.tolist()]
    for found, m, one in zip(noise.tails(least), least.tolist(), exact, strict=True):
        low, high = noise.tail(m)
        assert low <= (one + 1e-20) * (1 << 512)
        assert (one - 1e-20) * (1 << 512) <= high
        assert float(found) == pytest.approx(float(one), rel=1e-9, abs=1e-20)
    variance = mpmath.fsum(one * k * k for k, one in law.items())
    assert noise.variance_of_noise == pytest.approx(float(variance), rel=2e-2)
    drawn = noise.draw(20_000, current())
    assert abs(drawn.mean()) < 6 * float(mpmath.sqrt(variance / 20_000))
    assert drawn.var() == pytest.approx(float(variance), rel=0.2)
