"""Several optima: the tail by search over all scores, and what a wrong number of them would claim."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Exponential
from discreet.mechanisms.error.optima import SeveralOptimaError
from discreet.mechanisms.error.selection import ExponentialError

RATE = Fraction(1, 3)


def shortfall(scores, threshold):
    weights = [exp(float(RATE) * score) for score in scores]
    bad = sum(w for w, s in zip(weights, scores, strict=True) if max(scores) - s > threshold)
    return bad / sum(weights)


@pytest.mark.parametrize("optima", [1, 2, 3])
@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_the_tail_is_that_of_the_worst_scores_with_as_many_optima(optima, threshold):
    vectors = [v for v in product(range(5), repeat=4) if v.count(max(v)) >= optima]
    worst = max(shortfall(scores, threshold) for scores in vectors)
    assert SeveralOptimaError(rate=RATE, optima=optima).tail(threshold, candidates=4) == pytest.approx(worst)


def test_more_optima_than_there_are_break_the_statement():
    claimed = SeveralOptimaError(rate=RATE, optima=3).tail(1, candidates=4)
    assert shortfall((4, 2, 2, 2), 1) > 2 * claimed


def test_the_sharper_textbook_bound_holds_and_falls_with_the_optima():
    mechanism, beta = Exponential(sensitivity=1, epsilon=1), 0.05
    for optima in (1, 7, 50):
        error = mechanism.error_with(optima=optima)
        bound = error.textbook_bound(1 - beta, candidates=100)
        assert bound == pytest.approx(2 * log(100 / (beta * optima)))
        assert error.tail(Fraction(bound), candidates=100) <= beta
        assert error.quantile(0.95, candidates=100) <= bound + 1
    assert mechanism.error_with(optima=100).tail(0, candidates=100) == 0


def test_one_optimum_is_the_plain_error():
    plain, one = ExponentialError(rate=RATE), SeveralOptimaError(rate=RATE, optima=1)
    for threshold in (0, 3, 11):
        assert one.tail(threshold, candidates=9) == plain.tail(threshold, candidates=9)
    assert one.textbook_bound("0.9", candidates=9) == plain.textbook_bound("0.9", candidates=9)


def test_real_scores_keep_their_rounding():
    mechanism = Exponential(sensitivity=0.3, epsilon=1)
    assert mechanism.error_with(optima=2).rounding == mechanism.error.rounding


def test_other_numbers_of_optima_are_refused():
    for wrong in (0, 1.5, True):
        with pytest.raises(ParameterError):
            Exponential(sensitivity=1, epsilon=1).error_with(optima=wrong)
    with pytest.raises(ParameterError):
        Exponential(sensitivity=1, epsilon=1).error_with(optima=5).tail(1, candidates=4)
