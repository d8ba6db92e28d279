from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from discreet.audit import Membership
from discreet.audit.membership import likelihood_ratios

SCORES = np.array([3.0, 1.0, 2.0, 2.0, 0.0, 5.0])
INCLUDED = np.array([True, False, True, False, False, False])
ATTACK = Membership(name="loss", scores=SCORES, included=INCLUDED)


def test_the_surest_guesses_are_those_with_extreme_scores():
    assert ATTACK.right(2, "in") == 1  # 5 did not take part, 3 did
    assert ATTACK.right(2, "out") == 2
    assert ATTACK.right(2, "both") == 1
    assert ATTACK.right(5, "both") == 2 + 1  # 0 and 1 are out; of 2, 3 and 5, one of the two at 2 is guessed
    assert ATTACK.right(6, "out") == 4


def test_rates_are_those_of_all_thresholds():
    false, true = ATTACK.rates()
    thresholds = [np.inf, 5, 3, 2, 1, 0]
    assert true == pytest.approx([(SCORES[INCLUDED] >= one).mean() for one in thresholds])
    assert false == pytest.approx([(SCORES[~INCLUDED] >= one).mean() for one in thresholds])


def test_the_area_counts_pairs_in_the_right_order_and_half_of_the_ties():
    pairs = [(a > b) + (a == b) / 2 for a in SCORES[INCLUDED] for b in SCORES[~INCLUDED]]
    assert ATTACK.area == pytest.approx(np.mean(pairs))


def test_likelihood_ratios_are_those_of_normal_laws_canary_by_canary():
    source = np.random.default_rng(5)
    included = np.repeat([[True], [False]], 40, axis=0).reshape(80, 1) & np.ones(3, bool)
    shadows = source.normal([1.0, 5.0, -2.0], [1.0, 2.0, 0.1], (80, 3)) + included * [0.5, 1.0, 0.2]
    scores = source.normal(0, 3, (4, 3))
    ratios = likelihood_ratios(scores, shadows, included)
    for place in range(3):
        inside, outside = shadows[:40, place], shadows[40:, place]
        expected = norm.logpdf(scores[:, place], inside.mean(), inside.std(ddof=1))
        expected -= norm.logpdf(scores[:, place], outside.mean(), outside.std(ddof=1))
        assert ratios[:, place] == pytest.approx(expected)


def test_few_shadow_models_share_one_spread_and_none_is_zero():
    included = np.array([[True, False], [False, True], [True, False], [False, True]])
    shadows = np.where(included, 1.0, 0.0)
    ratios = likelihood_ratios(np.array([[1.0, 0.0]]), shadows, included)
    assert ratios[0, 0] > 0 > ratios[0, 1]
    assert np.isfinite(ratios).all()
