"""Noise from two look-ups: the table is the discrete Gaussian, and the stack nearly a rounded one."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import mpmath
import numpy as np
import pytest
from scipy import stats

from discreet.noise.stacked_gaussian import CELLS, EXTRA_WORDS, FACTOR, VARIANCE, look_up_table
from significance import FALSE_ALARM

PRECISION = 400


def drawn_masses():
    """The law that the words of the table define, as fractions: every word, bit by bit."""
    table = look_up_table()
    bits = 15 + 32 * EXTRA_WORDS
    masses = [0] * CELLS
    for cell in range(CELLS):
        cut = int(table.entries[cell]) >> 16
        for digit in table.digits[cell]:
            cut = cut << 32 | int(digit)
        masses[cell] += cut
        masses[int(table.entries[cell]) & (CELLS - 1)] += (1 << bits) - cut
    return [Fraction(mass, CELLS << bits) for mass in masses]


def ideal_masses():
    with mpmath.workprec(PRECISION):
        total = mpmath.sqrt(2 * mpmath.pi) * 4096  # of the weights, to e^(-2 pi^2 4096^2)
        weights = [mpmath.exp(-mpmath.mpf(m * m) / (2 * 4096**2)) / total for m in range(CELLS)]
        return [weights[0], *(2 * weight for weight in weights[1:])]


def test_the_table_is_the_discrete_gaussian_to_130_bits():
    drawn, ideal = drawn_masses(), ideal_masses()
    assert sum(drawn) == 1
    with mpmath.workprec(PRECISION):
        off = sum(
            abs(mpmath.mpf(one.numerator) / one.denominator - other)
            for one, other in zip(drawn, ideal, strict=True)
        )
        assert off < mpmath.mpf(2) ** -128


def test_a_table_of_coarser_cuts_would_be_told():
    """Cut points of 15 bits alone are off by more than a law of a million numbers may be."""
    table = look_up_table()
    off = sum(Fraction(int(digits[0]) + 1, CELLS << 47) for digits in table.digits)
    assert off > Fraction(1, 2**20)


def weight(place, variance):
    """The discrete Gaussian of a variance, whose norm is sqrt(2 pi variance) to e^(-2 pi^2 variance)."""
    return mpmath.exp(-mpmath.mpf(place * place) / (2 * variance)) / mpmath.sqrt(2 * mpmath.pi * variance)


def law_of_sum(place, variance, factor):
    """P(Y + factor A = place) for a discrete Gaussian Y and a draw A, by all terms that weigh anything."""
    spread = 1 / (Fraction(1, 4096**2) + Fraction(factor**2, variance))
    middle = round(place * factor / (variance + factor**2 * 4096**2) * 4096**2)
    reach = 16 * isqrt(int(spread) + 1) + 16
    with mpmath.workprec(PRECISION):
        return sum(
            weight(a, 4096**2) * weight(place - factor * a, variance)
            for a in range(max(middle - reach, 1 - CELLS), min(middle + reach, CELLS - 1) + 1)
        )


def rounded_law(place, variance):
    with mpmath.workprec(PRECISION):
        deviation = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        first = (mpmath.mpf(place) - mpmath.mpf(1) / 2) / deviation
        return mpmath.quad(
            lambda y: mpmath.exp(-((first + y / deviation) ** 2) / 2) / deviation, [0, 1]
        ) / mpmath.sqrt(2 * mpmath.pi)


def distance(found, ideal):
    with mpmath.workprec(PRECISION):
        return abs(mpmath.log(found / ideal))


@pytest.mark.parametrize("deviations", [0, 1.3, 5, 13])
def test_two_draws_are_a_discrete_gaussian_at_every_place(deviations):
    variance = 4096**2 * (1 + FACTOR**2)
    first = int(deviations * isqrt(variance))
    for place in range(first, first + FACTOR, 331):
        with mpmath.workprec(PRECISION):
            assert (
                distance(law_of_sum(place, 4096**2, FACTOR), weight(place, variance)) < mpmath.mpf(2) ** -100
            )


@pytest.mark.parametrize("deviations", [0, 0.01, 1.3, 13])
def test_the_stack_is_a_rounded_gaussian_at_every_place(deviations):
    place = int(deviations * isqrt(int(VARIANCE)))
    found = law_of_sum(place, 4096**2, FACTOR)
    assert distance(found, rounded_law(place, VARIANCE)) < mpmath.mpf(2) ** -83


@pytest.mark.parametrize("off", [Fraction(1, 12), Fraction(-1, 12)])
def test_another_variance_would_be_told(off):
    """The 1/12 of rounding is part of the law: a stack without it, or with twice of it, is not so close."""
    found = law_of_sum(0, 4096**2, FACTOR)
    assert distance(found, rounded_law(0, VARIANCE + off)) > mpmath.mpf(2) ** -60


def test_draws_too_far_apart_would_be_told():
    """Beyond half the deviation of the table, gaps between the multiples of the second draw show."""
    found = law_of_sum(700, 4096**2, 8192)
    with mpmath.workprec(PRECISION):
        assert distance(found, weight(700, 4096**2 * (1 + 8192**2))) > mpmath.mpf(2) ** -20


@pytest.mark.statistical
def test_words_become_the_law():
    random = np.random.default_rng(7)

    def words(size):
        return random.integers(0, 2**32, size, dtype=np.uint64).astype(np.uint32)

    drawn = look_up_table().draw(words(200_000), lambda places: words(len(places)))
    edges = np.linspace(-13000, 13000, 41).round() + 0.5
    expected = np.diff(stats.norm.cdf(np.concatenate([[-np.inf], edges, [np.inf]]) / 4096))
    counts = np.histogram(drawn, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    assert stats.chisquare(counts, expected * len(drawn)).pvalue > FALSE_ALARM


def test_a_position_that_is_the_cut_is_decided_by_more_words():
    table = look_up_table()
    cell = 5000
    word = np.uint32(cell << 16 | (int(table.entries[cell]) >> 16) << 1)
    digit, other = int(table.digits[cell, 0]), int(table.entries[cell]) & (CELLS - 1)

    def drawn(*more):
        given = iter(more)
        return int(table.draw(np.array([word]), lambda places: np.array([next(given)], np.uint32))[0])

    assert drawn(digit - 1) == cell
    assert drawn(digit + 1) == other
    assert drawn(digit, int(table.digits[cell, 1]) - 1) == cell
    assert drawn(*table.digits[cell]) == other
    assert (
        int(table.draw(np.array([word | 1], np.uint32), lambda places: np.array([0], np.uint32))[0]) == -cell
    )
