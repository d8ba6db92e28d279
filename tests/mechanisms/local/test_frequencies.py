"""Estimates and intervals from noisy reports: unbiased, and never below the stated coverage."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.mechanisms.local.frequencies import FrequencyEstimate, ReportLaw
from discreet.mechanisms.local.frequency_error import FrequencyError
from discreet.mechanisms.local.randomized_response import RandomizedResponse
from discreet.mechanisms.local.unary_encoding import UnaryEncoding
from discreet.noise import Source, using
from significance import FALSE_ALARM

LAWS = {
    "two coins": (Fraction(3, 4), Fraction(1, 4)),
    "optimized": (Fraction(1, 2), Fraction(1, 4)),
    "many answers": (Fraction(2, 5), Fraction(1, 15)),
    "hardly any noise": (Fraction(99, 100), Fraction(1, 100)),
    "almost only noise": (Fraction(26, 50), Fraction(24, 50)),
}
COINS = RandomizedResponse.two_coins()
laws = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


@cache
def exact_law(keep: Fraction, flip: Fraction, having: int, people: int) -> tuple[Fraction, ...]:
    """The law of the total, one person after the other, in exact fractions."""
    masses = (Fraction(1),)
    for person in range(people):
        chance = keep if person < having else flip
        grown = [Fraction(0)] * (len(masses) + 1)
        for total, mass in enumerate(masses):
            grown[total] += mass * (1 - chance)
            grown[total + 1] += mass * chance
        masses = tuple(grown)
    return masses


def estimate_of(law, total, people):
    return FrequencyEstimate(totals=[total], people=people, law=ReportLaw(keep=law[0], flip=law[1]))


@laws
@pytest.mark.parametrize("people", [1, 2, 7, 12])
def test_unbiased_for_every_population_by_enumeration(law, people):
    def mean(estimator, having):
        return sum(mass * Fraction(estimator(s)) for s, mass in enumerate(exact_law(*law, having, people)))

    for having in range(people + 1):
        ours = mean(lambda s: float(estimate_of(law, s, people).counts[0]), having)
        assert abs(ours - having) < Fraction(1, 10**9)
        share = mean(lambda s: float(estimate_of(law, s, people).proportions[0]), having)
        assert abs(share - Fraction(having, people)) < Fraction(1, 10**9)
    # The raw share of reports, and an estimate that is pulled back into the range, are biased.
    assert abs(mean(lambda s: s, people) - people) > Fraction(1, 10**3)
    pulled = mean(lambda s: max(0.0, float(estimate_of(law, s, people).counts[0])), 0)
    assert pulled > Fraction(1, 10**3)


def test_unbiased_end_to_end_by_enumeration_of_words():
    """Two people, three answers: the mean of the estimate over all words is the true histogram."""

    class Script(Source):
        def __init__(self, words):
            self._words = list(words)

        def words(self, size):
            taken, self._words = self._words[:size], self._words[size:]
            return np.array(taken, np.uint64)

    mechanism = RandomizedResponse(categories=3, truth="3/4")
    coins = [((2 * index + 1) << 64) // 8 for index in range(4)]
    choices = [1 << 62, 3 << 62]
    for answers in product(range(3), repeat=2):
        total = np.zeros(3)
        for words in product(coins, coins, choices, choices):
            with using(Script(words)):
                reports = mechanism.release(list(answers))
            total += np.asarray(mechanism.estimate(reports).counts)
        assert total / 64 == pytest.approx(np.bincount(answers, minlength=3), abs=1e-12)


@laws
@pytest.mark.parametrize("people", [1, 6, 40])
@pytest.mark.parametrize("having", [0, 1, "half", "all"])
def test_tails_equal_the_enumerated_law(law, people, having):
    having = {"half": people // 2, "all": people}.get(having, having)
    masses = exact_law(*law, having, people)
    for total in range(people + 1):
        at_most, at_least = ReportLaw(keep=law[0], flip=law[1]).tails(total, having, people)
        assert at_most == pytest.approx(float(sum(masses[: total + 1])), rel=1e-10)
        assert at_least == pytest.approx(float(sum(masses[total:])), rel=1e-10)


@pytest.mark.parametrize(
    ("people", "having"), [(10**4, 3000), (10**6, 0), (10**6, 123_456), (2 * 10**5, 2 * 10**5)]
)
@pytest.mark.parametrize("law", [LAWS["two coins"], LAWS["many answers"]], ids=["two coins", "many answers"])
def test_tails_of_large_surveys_equal_a_convolution_in_scipy(law, people, having):
    keep, flip = map(float, law)
    mean = having * keep + (people - having) * flip
    deviation = math.sqrt(having * keep * (1 - keep) + (people - having) * flip * (1 - flip))
    ones = np.arange(having + 1)
    for away in (-6, -2, 0, 2, 6):
        total = int(mean + away * deviation)
        weights = stats.binom.pmf(ones, having, keep)
        at_most = weights @ stats.binom.cdf(total - ones, people - having, flip)
        at_least = weights @ stats.binom.sf(total - 1 - ones, people - having, flip)
        ours = ReportLaw(keep=law[0], flip=law[1]).tails(total, having, people)
        assert ours == pytest.approx((at_most, at_least), rel=1e-7, abs=1e-30)


def test_far_tails_keep_their_digits():
    law = ReportLaw(keep=Fraction(3, 4), flip=Fraction(1, 4))
    with mpmath.workdps(40):
        p = mpmath.mpf(1) / 4
        exact = mpmath.fsum(mpmath.binomial(1000, k) * p**k * (1 - p) ** (1000 - k) for k in range(400, 1001))
    assert exact < 1e-24
    assert law.tails(400, 0, 1000)[1] == pytest.approx(float(exact), rel=1e-10)


def coverage(ends, law, having, people):
    """The exact probability that an interval, given as bounds for each total, covers the truth."""
    return sum(
        mass
        for (fewest, most), mass in zip(ends, exact_law(*law, having, people), strict=True)
        if fewest <= having <= most
    )


def check_coverage(ends, law, people, level):
    for having in range(people + 1):
        assert coverage(ends, law, having, people) >= level


def our_ends(law, people, confidence):
    totals = np.arange(people + 1)
    estimate = FrequencyEstimate(totals=totals, people=people, law=ReportLaw(keep=law[0], flip=law[1]))
    interval = estimate.interval(confidence)
    return list(zip(interval.fewest.tolist(), interval.most.tolist(), strict=True))


@laws
@pytest.mark.parametrize("people", [1, 2, 5, 11, 30])
@pytest.mark.parametrize("confidence", ["0.5", "0.8", "0.95", "0.999"])
def test_interval_covers_every_population_by_enumeration(law, people, confidence):
    ends = our_ends(law, people, confidence)
    assert all(0 <= fewest <= most <= people for fewest, most in ends)
    check_coverage(ends, law, people, Fraction(confidence))


@laws
@pytest.mark.parametrize("people", [1, 5, 11, 30])
def test_interval_is_the_inversion_of_exact_tests(law, people):
    """Brute force in fractions: exactly the counts that neither test rejects."""
    share = Fraction(1, 40)
    for total, ends in enumerate(our_ends(law, people, "0.95")):
        kept = [
            having
            for having in range(people + 1)
            if sum(exact_law(*law, having, people)[total:]) > share
            and sum(exact_law(*law, having, people)[: total + 1]) > share
        ]
        if kept:
            assert ends == (kept[0], kept[-1])
        else:  # no population explains the total well; the nearest one stands for all
            assert ends in ((0, 0), (people, people))


@pytest.mark.parametrize("name", ["two coins", "many answers"])
def test_the_coverage_check_rejects_textbook_and_careless_intervals(name):
    law, people, level = LAWS[name], 30, Fraction(19, 20)
    away = NormalDist().inv_cdf(0.975)
    gap = float(law[0] - law[1])

    def wald(total):
        center = (total - people * float(law[1])) / gap
        share = total / people
        reach = away * math.sqrt(people * share * (1 - share)) / gap
        return center - reach, center + reach

    ours = our_ends(law, people, "0.95")
    one_sided = our_ends(law, people, "0.9")
    shrunk = [(fewest + 1, most - 1) for fewest, most in ours]
    for wrong in ([wald(total) for total in range(people + 1)], one_sided, shrunk):
        with pytest.raises(AssertionError):
            check_coverage(wrong, law, people, level)


@settings(deadline=None, max_examples=60)
@given(
    flip=st.fractions(min_value=Fraction(1, 50), max_value=Fraction(9, 10), max_denominator=50),
    share=st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20),
    people=st.integers(1, 14),
    confidence=st.integers(1, 99),
)
def test_intervals_cover_and_never_cross(flip, share, people, confidence):
    law = (flip + share * (1 - flip), flip)
    ends = our_ends(law, people, Fraction(confidence, 100))
    check_coverage(ends, law, people, Fraction(confidence, 100))
    for lower, higher in pairwise(ends):
        assert lower[0] <= higher[0]
        assert lower[1] <= higher[1]
    wider = our_ends(law, people, Fraction(confidence + 100, 200))
    assert all(w[0] <= e[0] and e[1] <= w[1] for w, e in zip(wider, ends, strict=True))


@pytest.mark.parametrize("people", [3, 8])
def test_simultaneous_intervals_cover_all_categories_at_once(people):
    """Exact: the joint law of three totals under randomized response, for every population."""
    mechanism = RandomizedResponse(categories=3, truth="3/5")
    level = Fraction(4, 5)
    ends = {}
    for totals in product(range(people + 1), repeat=3):
        if sum(totals) == people:
            ends[totals] = mechanism.estimate_totals(totals, people=people).simultaneous_interval(level)
    for having in ends:
        joint = {(0, 0, 0): Fraction(1)}
        for answer in (j for j in range(3) for _ in range(having[j])):
            grown = {}
            for totals, mass in joint.items():
                for report in range(3):
                    chance = mechanism.truth if report == answer else mechanism.lie
                    key = tuple(total + (report == j) for j, total in enumerate(totals))
                    grown[key] = grown.get(key, 0) + mass * chance
            joint = grown
        covered = sum(
            mass
            for totals, mass in joint.items()
            if (ends[totals].fewest <= having).all() and (ends[totals].most >= having).all()
        )
        assert covered >= level


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mechanism",
    [
        COINS,
        RandomizedResponse(categories=5, epsilon=1),
        UnaryEncoding(size=5, epsilon=1),
        UnaryEncoding.symmetric(5, 2),
    ],
    ids=str,
)
def test_intervals_of_large_surveys_cover(mechanism):
    """Fresh surveys: misses stay below what 5% allows, and estimates center on the truth."""
    having, runs = np.array([1500, 500, 0, 0, 0]), 500
    if mechanism == COINS:
        having = having[:2]
    answers = np.repeat(np.arange(len(having)), having)
    misses = np.zeros(len(having))
    sums = np.zeros(len(having))
    for _ in range(runs):
        estimate = mechanism.estimate(mechanism.release(answers))
        interval = estimate.interval("0.95")
        misses += (interval.fewest > having) | (interval.most < having)
        sums += estimate.counts
    assert (stats.binom.sf(misses - 1, runs, 0.05) > FALSE_ALARM).all()
    # Not vacuous: a category misses sometimes; never in 500 runs would take far too wide intervals.
    assert misses.sum() > 0
    deviation = 2000 * mechanism.error.standard_error(people=2000) / math.sqrt(runs)
    reach = -NormalDist().inv_cdf(FALSE_ALARM / 20)
    assert (np.abs(sums / runs - having) < reach * deviation).all()
    assert np.abs(sums / runs - having[::-1]).max() > reach * deviation


@laws
def test_standard_errors(law):
    people = 9
    error = FrequencyError(law=ReportLaw(keep=law[0], flip=law[1]))
    exact = []
    for having in range(people + 1):
        masses = exact_law(*law, having, people)
        mean = sum(s * mass for s, mass in enumerate(masses))
        variance = sum((s - mean) ** 2 * mass for s, mass in enumerate(masses))
        exact.append(math.sqrt(variance) / people / float(law[0] - law[1]))
    assert error.standard_error(people=people) == pytest.approx(max(exact), rel=1e-12)
    for total in range(people + 1):
        ours = estimate_of(law, total, people).standard_error[0]
        assert min(exact) * (1 - 1e-12) <= ours <= max(exact) * (1 + 1e-12)


@laws
@pytest.mark.parametrize("people", [1, 5, 30, 45])
def test_no_population_has_a_larger_error_than_the_tail_says(law, people):
    error = FrequencyError(law=ReportLaw(keep=law[0], flip=law[1]))
    gap = law[0] - law[1]
    for threshold in (Fraction(i, 20) / gap for i in range(1, 21)):
        bound = error.tail(threshold, people=people)
        for having in range(people + 1):
            mean = having * law[0] + (people - having) * law[1]
            beyond = sum(
                mass
                for s, mass in enumerate(exact_law(*law, having, people))
                if abs(s - mean) > threshold * people * gap
            )
            assert beyond <= bound


@laws
def test_the_tail_of_a_large_survey_is_close_to_the_normal_one(law):
    people = 10**8
    error = FrequencyError(law=ReportLaw(keep=law[0], flip=law[1]))
    for away in (1, 2, 3):
        threshold = away * error.standard_error(people=people)
        normal = math.erfc(away / math.sqrt(2))
        assert normal <= error.tail(threshold, people=people) <= normal + 2e-3


@laws
@pytest.mark.parametrize("people", [1, 30, 10**5, 2**34])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_quantile_is_where_the_tail_falls(law, people, confidence):
    error = FrequencyError(law=ReportLaw(keep=law[0], flip=law[1]))
    quantile = error.quantile(confidence, people=people)
    assert error.tail(quantile, people=people) <= (1 - confidence) * (1 + 1e-6)
    assert error.tail(quantile * (1 - 1e-9), people=people) > (1 - confidence) * (1 - 1e-6)
    assert error.tail(0, people=people) == 1
    assert error.tail(-1, people=people) == 1
    assert error.tail(10**1000, people=people) == 0


@pytest.mark.parametrize("chance", [Fraction(1, 2**60), Fraction(1, 10**1000)])
def test_extreme_probabilities_neither_crash_nor_lie(chance):
    law = (1 - chance, chance)
    for people in (1, 1000, 10**6):
        for total in (0, people // 2, people):
            interval = estimate_of(law, total, people).interval(0.99)
            assert interval.fewest[0] == interval.most[0] == total
            assert estimate_of(law, total, people).counts[0] == pytest.approx(total)
            assert estimate_of(law, total, people).standard_error[0] < 1e-9
        error = FrequencyError(law=ReportLaw(keep=law[0], flip=law[1]))
        assert error.quantile(0.99, people=people) < 0.5
    almost_certain = Fraction(1) - Fraction(1, 10**300)
    interval = estimate_of(LAWS["two coins"], 5, 10).interval(almost_certain)
    assert (interval.fewest[0], interval.most[0]) == (0, 10)


def test_interval_as_proportions_and_shapes():
    estimate = COINS.estimate([0] * 60 + [1] * 40)
    interval = estimate.interval(0.9)
    assert interval.lower == pytest.approx(interval.fewest / 100)
    assert interval.upper == pytest.approx(interval.most / 100)
    assert (interval.lower <= estimate.proportions).all()
    assert (estimate.proportions <= interval.upper).all()
    assert estimate.proportions == pytest.approx([0.7, 0.3])
    # Two answers are one question: the intervals mirror each other.
    assert (interval.fewest == 100 - interval.most[::-1]).all()
    assert (estimate.simultaneous_interval(0.9).fewest <= interval.fewest).all()
    assert repr(estimate) == "FrequencyEstimate(people=100, proportions=[0.7 0.3])"
    with pytest.raises(ValueError, match="read-only"):
        estimate.totals[0] = 1


@given(st.permutations(list(range(12))))
def test_the_order_of_reports_does_not_matter(order):
    reports = np.array([0, 1, 1, 2, 0, 0, 1, 2, 2, 2, 2, 0])
    bits = (np.arange(12)[:, None] + np.arange(3)) % 2
    plain, encoded = RandomizedResponse(categories=3, epsilon=1), UnaryEncoding(size=3, epsilon=1)
    assert (plain.estimate(reports[order]).totals == plain.estimate(reports).totals).all()
    assert (encoded.estimate(bits[order]).totals == encoded.estimate(bits).totals).all()


def test_counts_alone_are_enough_for_a_server():
    mechanism = UnaryEncoding(size=3, epsilon=1)
    bits = mechanism.release([0, 1, 2, 0])
    totals = bits[:2].sum(axis=0, dtype=int) + bits[2:].sum(axis=0, dtype=int)
    kept = mechanism.estimate_totals(totals, people=4)
    assert kept.counts.tolist() == mechanism.estimate(bits).counts.tolist()
    assert mechanism.estimate(bits[0]).people == 1
    kept = COINS.estimate_totals([1, 3], people=4)
    assert kept.counts.tolist() == COINS.estimate([1, 0, 1, 1]).counts.tolist()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: COINS.estimate([0, 1]).interval(1), "confidence"),
        (lambda: COINS.estimate([0, 1]).interval(float("nan")), "confidence"),
        (lambda: COINS.error.standard_error(people=0), "people"),
        (lambda: COINS.error.tail("x", people=5), "threshold"),
        (lambda: COINS.error.quantile(0.9, people=True), "people"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ParameterError) as refusal:
        call()
    assert refusal.value.parameter == name
