"""Tails of binomial laws are bounded from above and nearly tight: sums of fractions, and of long decimals."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import comb

import pytest
from scipy.stats import binom

from discreet.accounting.formulas.binomial_tail import binomial_tail, least_count


def exact_tail(trials: int, least: int, rate: Fraction) -> Fraction:
    """P(Bin(trials, rate) >= least), term by term in decimals of 80 digits, of which 70 are right."""
    if least > trials:
        return Fraction(0)
    with localcontext(Context(prec=80, Emin=-(10**9), Emax=10**9)):
        chance = Decimal(rate.numerator) / rate.denominator
        if chance == 1:
            return Fraction(1)
        term = comb(trials, least) * chance**least * (1 - chance) ** (trials - least)
        total, count = Decimal(0), least
        while count <= trials and (count <= trials * chance or term > total.scaleb(-80)):
            total += term
            term *= (trials - count) * chance / ((count + 1) * (1 - chance))
            count += 1
        return Fraction(total)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 100), Fraction(9, 10)])
def test_small_tails_are_those_of_all_outcomes(rate):
    for trials in range(1, 12):
        law = [comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
        for least in range(trials + 2):
            truth = sum(law[least:], Fraction(0))
            assert abs(exact_tail(trials, least, rate) - truth) <= truth / 10**60
            found = Fraction(binomial_tail(trials, least, rate))
            assert truth <= found
            is_above_the_mean = (trials - least) * rate < (least + 1) * (1 - rate)
            assert found <= (truth * (1 + Fraction(1, 10**6)) if is_above_the_mean else 1)


@pytest.mark.parametrize(
    ("trials", "rate", "least"),
    [
        (59_999, Fraction(256, 60_000), 373),
        (999, Fraction(1, 20), 120),
        (10**5, Fraction(1, 2), 52_000),
        (10**6, Fraction(1, 10**6), 30),
    ],
)
def test_tails_of_long_laws_are_from_above_and_hardly_more(trials, rate, least):
    truth, found = exact_tail(trials, least, rate), Fraction(binomial_tail(trials, least, rate))
    assert truth <= found <= truth * (1 + Fraction(1, 10**5))
    assert float(truth) == pytest.approx(binom.sf(least - 1, trials, float(rate)), rel=1e-6)


def test_terms_beyond_those_that_are_summed_are_part_of_a_bound():
    """At 3.8 deviations, of 15,811 each, the first 4000 terms are two thirds of the tail."""
    trials, least = 10**9, 5 * 10**8 + 60_000
    truth, found = binom.sf(least - 1, trials, 0.5), binomial_tail(trials, least, Fraction(1, 2))
    assert binom.sf(least + 4000, trials, 0.5) > 0.3 * truth
    assert truth * (1 - 1e-6) <= found <= 1.1 * truth


def test_ends():
    assert binomial_tail(10, 11, Fraction(1)) == 0
    assert binomial_tail(10, 10, Fraction(1)) == 1
    assert binomial_tail(10, 1, Fraction(0)) == 0
    assert binomial_tail(10, 0, Fraction(0)) == 1
    assert binomial_tail(-1, 0, Fraction(1, 2)) == 0
    assert 0 < binomial_tail(10**6, 10**5, Fraction(1, 10**6)) <= 1e-300  # never 0 by rounding
    assert binomial_tail(100, 10, Fraction(1, 2)) == 1


@pytest.mark.parametrize("chance", [Fraction(1, 7), Fraction(1, 10**12), Fraction(1, 10**200)])
@pytest.mark.parametrize(
    ("trials", "rate"), [(999, Fraction(1, 20)), (12, Fraction(1, 2)), (2000, Fraction(9, 10))]
)
def test_the_least_count_is_the_first_with_a_small_tail(trials, rate, chance):
    found = least_count(trials, rate, chance)
    assert exact_tail(trials, found, rate) <= chance
    assert found == 0 or exact_tail(trials, found - 1, rate) > chance * (1 - Fraction(1, 10**5))


def test_no_trials_reach_more_than_there_are():
    assert least_count(5, Fraction(1), Fraction(1, 2)) == 6
    assert least_count(5, Fraction(1, 2), Fraction(0)) == 6
    assert least_count(0, Fraction(1, 2), Fraction(0)) == 1
    assert least_count(-1, Fraction(1, 2), Fraction(0)) == 0
    assert least_count(5, Fraction(1, 2), Fraction(1)) == 0
