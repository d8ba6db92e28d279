"""Goodness of fit: the samplers draw the law they claim, and the check would notice five percent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.noise.entropy import System
from discreet.noise.gaussian import sample_gaussian
from discreet.noise.laplace import sample_laplace
from discreet.noise.rounded_gaussian import sample_rounded_gaussian
from noise.oracle import gaussian_between, laplace_between, textbook_gaussian, textbook_laplace
from significance import FALSE_ALARM, fit_p_value

DRAWS = 1_000_000
SCALES = [Fraction(1, 2), Fraction(1), Fraction(10), Fraction(637, 10), 1000, 10**4, 2**20, 2**40]


def edges_for(scale: float, reach: float) -> np.ndarray:
    width = max(1, int(scale / 5))
    half = max(3, int(reach * scale / width))
    return np.arange(-half, half + 1) * width


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):g}")
def test_laplace(scale):
    drawn, edges = sample_laplace(scale, DRAWS, System()), edges_for(float(scale), 9)
    assert fit_p_value(drawn, laplace_between(float(scale)), edges) > FALSE_ALARM
    assert fit_p_value(drawn, laplace_between(float(scale) * 1.05), edges) < FALSE_ALARM
    assert fit_p_value(drawn, laplace_between(float(scale) / 1.05), edges) < FALSE_ALARM


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):g}")
def test_laplace_of_few_at_a_time(scale):
    source, few = System(), 1 << 12
    drawn = np.concatenate([sample_laplace(scale, few, source) for _ in range(DRAWS // few)])
    edges = edges_for(float(scale), 9)
    assert fit_p_value(drawn, laplace_between(float(scale)), edges) > FALSE_ALARM
    assert fit_p_value(drawn, laplace_between(float(scale) * 1.05), edges) < FALSE_ALARM
    assert fit_p_value(drawn, laplace_between(float(scale) / 1.05), edges) < FALSE_ALARM


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.parametrize("deviation", SCALES, ids=lambda deviation: f"{float(deviation):g}")
def test_gaussian(deviation):
    drawn, edges = sample_gaussian(deviation**2, DRAWS, System()), edges_for(float(deviation), 5)
    variance = float(deviation) ** 2
    assert fit_p_value(drawn, gaussian_between(variance), edges) > FALSE_ALARM
    assert fit_p_value(drawn, gaussian_between(variance * 1.05**2), edges) < FALSE_ALARM
    assert fit_p_value(drawn, gaussian_between(variance / 1.05**2), edges) < FALSE_ALARM


def rounded_between(deviation: float):
    """Return (a, b) -> P(a <= N < b) for a rounded normal number: the normal law between two edges."""
    return lambda a, b: float(np.diff(stats.norm.cdf((np.array([a, b]) - 0.5) / deviation))[0])


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.parametrize("deviation", SCALES, ids=lambda deviation: f"{float(deviation):g}")
def test_rounded_gaussian(deviation):
    drawn, edges = (
        sample_rounded_gaussian(Fraction(deviation) ** 2, DRAWS, System()),
        edges_for(float(deviation), 5),
    )
    assert fit_p_value(drawn, rounded_between(float(deviation)), edges) > FALSE_ALARM
    assert fit_p_value(drawn, rounded_between(float(deviation) * 1.05), edges) < FALSE_ALARM
    assert fit_p_value(drawn, rounded_between(float(deviation) / 1.05), edges) < FALSE_ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("deviation", [100, 10**4])
def test_low_bits_of_rounded_numbers_are_as_the_law_has_them(deviation):
    drawn = sample_rounded_gaussian(Fraction(deviation) ** 2, DRAWS, System())
    counts = np.bincount(drawn & 7, minlength=8)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM  # uniform to far below 1 / DRAWS


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):g}")
def test_low_bits_are_as_the_law_has_them(scale):
    """Values modulo 8 tell a wrong digit, block or offset that wide bins hide."""
    for drawn, between in (
        (sample_laplace(scale, DRAWS, System()), laplace_between(float(scale))),
        (sample_gaussian(scale**2, DRAWS, System()), gaussian_between(float(scale) ** 2)),
    ):
        counts = np.bincount(drawn & 7, minlength=8)
        if scale > 1000:  # the residues are uniform to within 1 / scale^2
            expected = np.full(8, DRAWS / 8)
        else:
            reach = 8 * (int(15 * scale) // 8 + 2)
            residues = np.arange(-reach, reach) & 7
            law = np.array([between(int(y), int(y) + 1) for y in range(-reach, reach)])
            expected = np.bincount(residues, law) * DRAWS
            expected[0] += DRAWS - expected.sum()
        assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM
        drawn[: DRAWS // 20] &= ~1  # a low bit that is lost in every twentieth value
        wrong = np.bincount(drawn & 7, minlength=8)
        assert stats.chisquare(wrong, expected).pvalue < FALSE_ALARM


def two_sample_p_value(first: np.ndarray, second: np.ndarray) -> float:
    edges = np.unique(np.quantile(first, np.linspace(0, 1, 21)[1:-1]).round())
    counts = np.array(
        [np.bincount(np.searchsorted(edges, s), minlength=len(edges) + 1) for s in (first, second)]
    )
    return float(stats.chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue)


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(10), Fraction(637, 10)], ids=str)
def test_laplace_agrees_with_the_textbook(scale):
    textbook = np.array([textbook_laplace(scale) for _ in range(12_000)])
    assert two_sample_p_value(sample_laplace(scale, DRAWS, System()), textbook) > FALSE_ALARM
    assert two_sample_p_value(sample_laplace(scale * Fraction(5, 4), DRAWS, System()), textbook) < FALSE_ALARM


@pytest.mark.few(2)
@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(1), Fraction(100), Fraction(10**4)], ids=str)
def test_gaussian_agrees_with_the_textbook(variance):
    textbook = np.array([textbook_gaussian(variance) for _ in range(8_000)])
    assert two_sample_p_value(sample_gaussian(variance, DRAWS, System()), textbook) > FALSE_ALARM
    assert two_sample_p_value(sample_gaussian(variance * 2, DRAWS, System()), textbook) < FALSE_ALARM
