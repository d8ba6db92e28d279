"""Report-noisy-max: the rule for ties, the guarantee with integer noise, and voting."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.selection import noisy_max
from discreet.mechanisms.selection.noisy_max import ReportNoisyMax
from discreet.noise import Source, using
from discreet.privacy.events import NoisyMax
from discreet.privacy.guarantees import PureDP
from significance import FALSE_ALARM, fit_p_value

REACH = 60


def mass(y, ratio):
    """P(Y = y) of discrete Laplace noise, by definition; exact when the ratio is a fraction."""
    return (1 - ratio) / (1 + ratio) * ratio ** abs(y)


def at_most(y, ratio):
    """P(Y <= y)."""
    return 1 - ratio ** (y + 1) / (1 + ratio) if y >= 0 else ratio**-y / (1 + ratio)


def never_beats(i, j, lead, ratio, tie):
    """P(candidate j, `lead` behind the winner's noisy score, does not win against i)."""
    return at_most(lead if tie(i, j) else lead - 1, ratio)


def smallest_index(i, j):
    return i < j


def law(scores, ratio, tie=smallest_index):
    """The law of the winner, summed over its own noise; `tie(i, j)`: whether i wins a tie against j."""
    winners = []
    for i, score in enumerate(scores):
        total = 0 * ratio
        for y in range(-REACH, REACH + 1):
            wins = mass(y, ratio)
            for j, other in enumerate(scores):
                if j != i:
                    wins *= never_beats(i, j, y + score - other, ratio, tie)
            total += wins
        winners.append(total)
    return winners


class Unused(Source):
    def words(self, size):
        raise AssertionError("drew outside the noise")


def scripted(monkeypatch, mechanism, scores, noise):
    """Run the release with given noise; return the winner and the scale that was asked for."""
    asked = []

    def sample(scale, size, source):
        asked.append(scale)
        assert size == len(scores)
        return np.array(noise)

    with monkeypatch.context() as patch, using(Unused()):
        patch.setattr(noisy_max, "sample_laplace", sample)
        winner = mechanism.release(scores)
    [scale] = asked
    return winner, scale


def test_three_faces():
    mechanism = ReportNoisyMax(sensitivity=1, epsilon=0.5)
    assert mechanism.event == NoisyMax(epsilon=Fraction(1, 2))
    assert mechanism.guarantee == PureDP(epsilon=Fraction(1, 2))
    assert mechanism.scale == 4
    assert ReportNoisyMax(sensitivity=1, epsilon=0.5, monotone=True).scale == 2
    assert type(mechanism.release([3, 1, 2])) is int
    assert mechanism.release([17]) == 0


@pytest.mark.parametrize("scores", [[0, 0, 0], [1, 0, 2], [2, 1, 0]])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_largest_noisy_score_wins_and_the_first_of_equals(scores, monotone, monkeypatch):
    mechanism = ReportNoisyMax(sensitivity=3, epsilon=Fraction(1, 2), monotone=monotone)
    for noise in product(range(-2, 3), repeat=3):
        noisy = [s + n for s, n in zip(scores, noise, strict=True)]
        winner, scale = scripted(monkeypatch, mechanism, scores, noise)
        assert winner == noisy.index(max(noisy))
        assert scale == (6 if monotone else 12)


def test_the_scale_of_real_scores_is_in_steps_of_the_grid(monkeypatch):
    mechanism = ReportNoisyMax(sensitivity=0.3, epsilon=1, grid=Fraction(1, 4))
    # 0.3 is two steps after rounding; a difference of two scores moves by four.
    winner, scale = scripted(monkeypatch, mechanism, [0.0, 0.5, 0.49], [2, 0, 1])
    assert (winner, scale) == (2, 4)


def test_the_law_of_the_release_is_the_law_below(monkeypatch):
    """Release on every pair of noises, weighted with their masses, against the one-sum formula."""
    mechanism = ReportNoisyMax(sensitivity=1, epsilon=2 * log(3))
    ratio, reach = 1 / 3, 25
    for scores in ([0, 0], [0, 2], [2, 0]):
        enumerated = [0.0, 0.0]
        for noise in product(range(-reach, reach + 1), repeat=2):
            winner, _ = scripted(monkeypatch, mechanism, scores, noise)
            enumerated[winner] += mass(noise[0], ratio) * mass(noise[1], ratio)
        assert enumerated == pytest.approx(law(scores, ratio), rel=1e-9)


def worst_ratio(ratio, sensitivity, *, monotone, tie=lambda scores: smallest_index):
    """The largest quotient of probabilities over all neighbors of all small score vectors, exact.

    The winner's noise beyond REACH weighs less than ratio^REACH and is counted in the numerator only.
    """
    known = {}

    def winners(scores):
        scores = tuple(score - min(scores) for score in scores)  # a common shift changes nothing
        if scores not in known:
            known[scores] = law(scores, ratio, tie(scores))
        return known[scores]

    least = 0 if monotone else -sensitivity
    worst = Fraction(0)
    for scores in product((0, 1, 6), repeat=3):
        for move in product(range(least, sensitivity + 1), repeat=3):
            moved = tuple(s + m for s, m in zip(scores, move, strict=True))
            for p, q in zip(winners(scores), winners(moved), strict=True):
                worst = max(worst, (p + ratio**REACH) / q, (q + ratio**REACH) / p)
    return worst


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_pure_epsilon_holds_on_every_small_input(sensitivity, monotone):
    """With r = exp(-1 / scale) as an exact fraction: no quotient exceeds r^-D, D = 2 Δ or Δ steps."""
    ratio = Fraction(1, 3)
    swing = sensitivity if monotone else 2 * sensitivity
    limit = ratio**-swing
    worst = worst_ratio(ratio, sensitivity, monotone=monotone)
    assert worst <= limit * (1 + Fraction(1, 10**20))
    assert worst > ratio ** -(swing - Fraction(1, 2))  # and half a step less would not do


def test_a_monotone_scale_fails_for_scores_that_move_both_ways():
    ratio = Fraction(1, 3)
    assert worst_ratio(ratio, 1, monotone=False) > ratio**-1 * 2


def test_ties_broken_by_the_private_scores_would_break_the_guarantee():
    """Favoring the higher true score among equals moves the winner's bar by one step more."""
    ratio = Fraction(1, 3)

    def by_score(scores):
        return lambda i, j: (scores[i], -i) > (scores[j], -j)

    assert worst_ratio(ratio, 1, monotone=True) <= ratio**-1 * (1 + Fraction(1, 10**20))
    assert worst_ratio(ratio, 1, monotone=True, tie=by_score) > ratio**-1 * Fraction(3, 2)


@pytest.mark.statistical
@pytest.mark.parametrize("monotone", [False, True])
def test_releases_follow_the_law(monotone):
    mechanism = ReportNoisyMax(sensitivity=2, epsilon=2, monotone=monotone)
    scores = [3, 0, 4, 4, 2]
    drawn = np.array([mechanism.release(scores) for _ in range(30_000)])
    for factor, right in ((1, True), (2, False), (0.5, False)):
        expected = law(scores, exp(-factor / mechanism.scale))
        p_value = fit_p_value(drawn, lambda a, b, law=expected: sum(law[a:b]), np.arange(len(scores) + 1))
        assert (p_value > FALSE_ALARM) == right


@pytest.mark.statistical
def test_voting():
    """One vote each, added or removed: the counts are monotone, and the winner is private."""
    votes = np.repeat(np.arange(4), [400, 380, 150, 70])
    counts = np.bincount(votes, minlength=4)
    mechanism = ReportNoisyMax.for_error(50, candidates=4, confidence=0.99, monotone=True)
    assert mechanism.guarantee.statement.startswith("Adding or removing one person")
    assert mechanism.epsilon < 0.2
    winners = np.array([mechanism.release(counts) for _ in range(2000)])
    # The third trails by 250: at most 0.01 each by the bound, far less in truth.
    assert (winners >= 2).mean() < 0.01
    assert 0.5 < (winners == 0).mean() < 1


@pytest.mark.parametrize("epsilon", [201, 10**9, Fraction(1, 10**13)])
def test_noise_out_of_range_is_refused_by_name(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        ReportNoisyMax(sensitivity=1, epsilon=epsilon)


def test_epsilon_for_a_tolerated_error():
    mechanism = ReportNoisyMax.for_error(10, candidates=50, confidence=0.99)
    assert mechanism.error.tail(10, candidates=50) <= 0.01
    assert mechanism.error.quantile(0.99, candidates=50) == 10
    cheaper = ReportNoisyMax(sensitivity=1, epsilon=mechanism.epsilon * (1 - 1e-6))
    assert cheaper.error.tail(10, candidates=50) > 0.01
