"""Errors of selections against brute force: the worst scores, found by search."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, log

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms.error.selection import (
    AboveThresholdError,
    ExponentialError,
    NoisyMaxError,
    PermuteAndFlipError,
    TopKError,
)

RATES = [Fraction(1, 7), Fraction(1, 2), Fraction(2)]


def mass(y, scale):
    ratio = exp(-1 / scale)
    return (1 - ratio) / (1 + ratio) * ratio ** abs(y)


def exponential_law(scores, rate):
    weights = [exp(float(rate) * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


def permute_and_flip_law(scores, rate):
    heads = [exp(float(rate) * (score - max(scores))) for score in scores]
    law = [0.0] * len(scores)
    for shown in product((0, 1), repeat=len(scores)):
        weight = 1.0
        for p, coin in zip(heads, shown, strict=True):
            weight *= p if coin else 1 - p
        for i, coin in enumerate(shown):
            if coin:
                law[i] += weight / sum(shown)
    return law


def noisy_max_law(scores, scale, reach=60):
    def at_most(y):
        ratio = exp(-1 / scale)
        return 1 - ratio ** (y + 1) / (1 + ratio) if y >= 0 else ratio**-y / (1 + ratio)

    law = []
    for i, score in enumerate(scores):
        total = 0.0
        for y in range(-reach, reach + 1):
            wins = mass(y, scale)
            for j, other in enumerate(scores):
                if j != i:
                    wins *= at_most(y + score - other - (j < i))
            total += wins
        law.append(total)
    return law


def worst_tail(law, candidates, threshold, *, deepest):
    """The largest P(best - chosen > threshold) over all scores down to `deepest` below the best."""
    worst = 0.0
    for gaps in combinations_with_replacement(range(deepest, -1, -1), candidates - 1):
        scores = [-gap for gap in gaps] + [0]  # the best comes last: ties are lost
        law_here = law(scores)
        worst = max(worst, sum(p for p, s in zip(law_here, scores, strict=True) if -s > threshold))
    return worst


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("candidates", [1, 2, 4])
@pytest.mark.parametrize(
    ("error", "law"),
    [(ExponentialError, exponential_law), (PermuteAndFlipError, permute_and_flip_law)],
    ids=["exponential", "permute_and_flip"],
)
def test_the_tail_is_that_of_the_worst_scores(error, law, rate, candidates):
    assert error.exact
    for threshold in (0, 1, 3):
        worst = worst_tail(lambda scores: law(scores, rate), candidates, threshold, deepest=6)
        assert error(rate=rate).tail(threshold, candidates=candidates) == pytest.approx(
            worst, rel=1e-9, abs=1e-15
        )


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(5)])
@pytest.mark.parametrize("candidates", [1, 2, 3])
def test_noisy_max_is_bounded_and_two_candidates_attain_the_bound(scale, candidates):
    assert not NoisyMaxError.exact
    for threshold in (0, 1, 4):
        worst = worst_tail(lambda scores: noisy_max_law(scores, scale), candidates, threshold, deepest=6)
        bound = NoisyMaxError(scale=scale).tail(threshold, candidates=candidates)
        assert worst <= bound * (1 + 1e-9)
        assert worst >= bound * (1 if candidates <= 2 else 0.6) * (1 - 1e-4)


def top_k_tail(scores, rate, k, threshold):
    weights = [exp(float(rate) * score) for score in scores]
    ranked = sorted(scores, reverse=True)

    def beyond(left, turn):
        if turn == k:
            return 0.0
        total = sum(weights[i] for i in left)
        return sum(
            weights[i]
            / total
            * (1.0 if ranked[turn] - scores[i] > threshold else beyond(left - {i}, turn + 1))
            for i in left
        )

    return beyond(frozenset(range(len(scores))), 0)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_is_bounded(rate, k):
    assert not TopKError.exact
    for threshold in (0, 2):
        worst = max(
            top_k_tail(scores, rate, k, threshold)
            for scores in combinations_with_replacement((0, 1, 3, 6), 4)
        )
        bound = TopKError(rate=rate, k=k).tail(threshold, candidates=4)
        assert worst <= bound * (1 + 1e-9)
        if k == 1:
            assert bound == pytest.approx(ExponentialError(rate=rate).tail(threshold, candidates=4))


@pytest.mark.parametrize("scales", [(2, 2), (1, 3), (3, 1), (Fraction(1, 50), 1), (40, 51)])
@pytest.mark.parametrize("threshold", [0, 1, 5, 12, 29])
def test_above_threshold_adds_up_the_difference_of_two_noises_or_bounds_them_apart(scales, threshold):
    """By direct convolution: a value that lies `threshold` + 1 off is answered wrongly."""
    assert not AboveThresholdError.exact
    first, second = scales
    error = AboveThresholdError(threshold_scale=Fraction(first), value_scale=Fraction(second))
    reach = 60 * max(int(first), int(second))
    other = exp(-1 / second)

    def at_least(y):
        return other**y / (1 + other) if y >= 1 else 1 - other ** (1 - y) / (1 + other)

    wrong = sum(mass(rho, float(first)) * at_least(threshold + 1 + rho) for rho in range(-reach, reach + 1))
    ratio = exp(-1 / first)
    best_apart = {
        n: min(2 * ratio**a / (1 + ratio) + n * at_least(threshold + 2 - a) for a in range(1, threshold + 2))
        for n in (1, 3, 10**6)
    }
    for n, apart in best_apart.items():
        assert error.tail(threshold, candidates=n) == pytest.approx(min(1, n * wrong, apart), rel=1e-9)


def test_wide_noise_tends_to_the_continuous_laws():
    """P(L - L' > x) = (1 + x / 2) exp(-x) / 2, and its mixed form, without loss of digits."""
    scale = Fraction(2**40)
    x = 3
    error = NoisyMaxError(scale=scale)
    assert error.tail(x * scale, candidates=2) == pytest.approx((1 + x / 2) * exp(-x) / 2, rel=1e-9)
    mixed = AboveThresholdError(threshold_scale=scale / 2, value_scale=scale)
    a, b = 0.5, 1.0
    expected = (b**2 * exp(-x / b) - a**2 * exp(-x / a)) / (b**2 - a**2) / 2
    assert mixed.tail(x * scale, candidates=1) == pytest.approx(expected, rel=1e-9)


ERRORS = [
    ExponentialError(rate=Fraction(1, 3)),
    ExponentialError(rate=Fraction(1, 3), step=Fraction(1, 8), rounding=Fraction(1, 8)),
    PermuteAndFlipError(rate=Fraction(1, 3)),
    NoisyMaxError(scale=Fraction(3)),
    NoisyMaxError(scale=Fraction(3), step=Fraction(1, 8), rounding=Fraction(1, 8)),
    TopKError(rate=Fraction(1, 3), k=3),
    AboveThresholdError(threshold_scale=Fraction(2), value_scale=Fraction(3)),
    AboveThresholdError(threshold_scale=Fraction(2), value_scale=Fraction(2)),
    AboveThresholdError(threshold_scale=Fraction(1, 20), value_scale=Fraction(1, 20)),
    NoisyMaxError(scale=Fraction(1, 20)),
]
every_error = pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)


@every_error
@given(
    candidates=st.integers(3, 10**6),
    failure=st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(9, 10)),
)
def test_the_textbook_is_never_better(error, candidates, failure):
    textbook = error.textbook_bound(1 - failure, candidates=candidates)
    assert error.tail(textbook, candidates=candidates) <= float(failure) * (1 + 1e-9)
    quantile = error.quantile(1 - failure, candidates=candidates)
    assert quantile <= textbook + float(error.step)


@every_error
@given(candidates=st.integers(3, 1000), confidence=st.floats(0.01, 0.999999))
def test_the_quantile_is_the_smallest_that_suffices(error, candidates, confidence):
    quantile = Fraction(error.quantile(confidence, candidates=candidates))
    failure = 1 - confidence
    assert error.tail(quantile, candidates=candidates) <= failure * (1 + 1e-9)
    if quantile > error.rounding:
        assert error.tail(quantile - error.step, candidates=candidates) >= failure * (1 - 1e-6)


@every_error
def test_the_tail_falls_with_the_threshold_and_grows_with_the_candidates(error):
    tails = [error.tail(t, candidates=10) for t in range(0, 200, 7)]
    assert tails == sorted(tails, reverse=True)
    tails = [error.tail(9, candidates=n) for n in (3, 10, 1000, 10**9, 10**18)]
    assert tails == sorted(tails)
    assert max(tails) <= 1
    assert error.tail(-1, candidates=3) == 1
    assert error.tail(10**30, candidates=3) == 0


@given(rate=st.fractions(min_value=Fraction(1, 1000), max_value=40), candidates=st.integers(2, 10**6))
def test_permute_and_flip_is_never_above_the_exponential_mechanism(rate, candidates):
    """And within a factor of two; checked against E[K / (K + 1)] in high precision."""
    for threshold in (0, 5, 50):
        flipped = PermuteAndFlipError(rate=rate).tail(threshold, candidates=candidates)
        chosen = ExponentialError(rate=rate).tail(threshold, candidates=candidates)
        assert chosen / 2 * (1 - 1e-9) <= flipped <= chosen * (1 + 1e-9)
        with mpmath.workdps(150):
            p = mpmath.exp(-(threshold + 1) * mpmath.mpf(rate.numerator) / rate.denominator)
            if p > mpmath.mpf("1e-60"):
                exact = 1 - (1 - (1 - p) ** candidates) / (candidates * p)
                assert flipped == pytest.approx(float(exact), rel=1e-9)


def test_textbook_formulas():
    assert ExponentialError(rate=Fraction(1, 2)).textbook_bound(0.95, candidates=10) == pytest.approx(
        2 * log(10 / 0.05)
    )
    assert NoisyMaxError(scale=Fraction(2)).textbook_bound(0.95, candidates=10) == pytest.approx(
        4 * log(10 / 0.05)
    )
    above = AboveThresholdError(threshold_scale=Fraction(2), value_scale=Fraction(3))
    assert above.textbook_bound(0.95, candidates=10) == 8 + 18  # of 7.4 and 17.97


@every_error
def test_bad_questions_are_refused_by_name(error):
    for candidates in (0, -1, 1.5, True, None, 2**63):
        with pytest.raises(ParameterError, match="candidates"):
            error.tail(1, candidates=candidates)
    for confidence in (0, 1, -1, 2, float("nan"), None):
        with pytest.raises(ParameterError, match="confidence"):
            error.quantile(confidence, candidates=5)
        with pytest.raises(ParameterError, match="confidence"):
            error.textbook_bound(confidence, candidates=5)
    with pytest.raises(ParameterError, match="threshold"):
        error.tail(float("nan"), candidates=5)
