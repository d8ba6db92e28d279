"""The law of a sum of magnitudes of normal noise, against convolutions and against a second method."""

from __future__ import annotations

from math import sqrt

import mpmath
import numpy as np
import pytest
from scipy import stats

from discreet.mechanisms.error import magnitude_sums
from discreet.mechanisms.error.magnitude_sums import DiscreteMagnitude, Magnitude, RoundedMagnitude

LAWS = (DiscreteMagnitude, RoundedMagnitude)


def masses_on_paper(law: type[Magnitude], sigma: float, reach: int) -> list[mpmath.mpf]:
    """P(|N| = k), from the definition, in forty digits."""
    sigma = mpmath.mpf(sigma)
    if law is DiscreteMagnitude:
        weights = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * sigma**2)) for k in range(reach + 1)]
        total = weights[0] + 2 * sum(weights[1:])
        return [weight * (1 if k == 0 else 2) / total for k, weight in enumerate(weights)]

    def beyond(k: int) -> mpmath.mpf:
        return mpmath.erfc((k + mpmath.mpf(1) / 2) / (sigma * mpmath.sqrt(2)))

    return [1 - beyond(0), *(beyond(k - 1) - beyond(k) for k in range(1, reach + 1))]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sigma", [0.2, 0.7, 3.0])
def test_small_noise_has_the_law_of_its_convolution_far_into_the_tail(law, sigma):
    with mpmath.workdps(40):
        one = masses_on_paper(law, sigma, int(30 * sigma) + 3)
        total = [mpmath.mpf(1)]
        for size in range(1, 6):
            total = [
                sum(total[j] * one[k - j] for j in range(max(0, k - len(one) + 1), min(k + 1, len(total))))
                for k in range(len(total) + len(one) - 1)
            ]
            for steps in sorted({0, 1, 2, int(size * sigma), int(3 * size * sigma), int(12 * sigma)}):
                expected = float(sum(total[steps + 1 :]))
                found = law(sigma).sum_tail(size, steps)
                assert found == pytest.approx(expected, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sigma", [64.0, 700.0])
@pytest.mark.parametrize("size", [2, 3, 40, 1000])
def test_the_integral_and_the_table_agree(law, sigma, size):
    """Two methods: a Fourier transform of the tilted law, and an integral of the transform's closed form."""
    one = law(sigma)
    table = one.masses(int(39 * sigma) + 3)
    table = table[table > 0]
    mean, deviation = size * sigma * sqrt(2 / np.pi), sigma * sqrt(size * (1 - 2 / np.pi))
    for place in (-2.5, -0.5, 0, 1, 4, 9, 25):
        target = int(mean + place * deviation)
        if target < 300:
            continue
        first = magnitude_sums._tabulated_tail(table, size, target)
        second = magnitude_sums._integrated_tail(one, size, target)
        assert second == pytest.approx(first, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("law", LAWS)
def test_on_a_fine_grid_two_values_have_the_law_of_two_normal_ones(law):
    """P(|X| + |Y| <= t) = (2 Phi(t / (sigma sqrt 2)) - 1)^2: the square rotated by an eighth of a turn."""
    sigma = 2.0**30
    for t in (1e-6, 0.1, 0.5, 1, 3, 8):
        inside = 2 * stats.norm.cdf(t / sqrt(2)) - 1
        beyond = 2 * stats.norm.sf(t / sqrt(2)) * (1 + inside)
        assert law(sigma).sum_tail(2, int(t * sigma)) == pytest.approx(beyond, rel=1e-7)


@pytest.mark.parametrize("law", LAWS)
def test_a_few_steps_of_wide_noise_are_added_up(law):
    sigma = 5000.0
    one = law(sigma).masses(20)
    inside = sum(
        one[a] * one[b] * one[c] for a in range(20) for b in range(20 - a) for c in range(20 - a - b)
    )
    assert law(sigma).sum_tail(3, 19) == pytest.approx(1 - inside, rel=1e-15)
    assert 1 - law(sigma).sum_tail(2, 0) == pytest.approx(one[0] ** 2, rel=1e-6)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sigma", [0.01, 0.5, 6.0, 90.0, 5e3, 1e9])
def test_tails_fall_from_one_to_zero(law, sigma):
    for size in (2, 17, 10**5):
        mean = 0.8 * size * sigma
        steps = [int(mean * part) for part in (0, 0.01, 0.5, 0.9, 1, 1.01, 1.1, 2, 5, 60)] + [10**13 * size]
        tails = [law(sigma).sum_tail(size, step) for step in steps]
        assert tails == sorted(tails, reverse=True)
        assert all(0 <= tail <= 1 for tail in tails)
        assert law(sigma).sum_tail(size, -1) == 1.0
        assert tails[-1] == 0.0
