from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.learning.teachers.aggregation import Answers, ConfidentGNMax, GNMax, InteractiveGNMax
from discreet.learning.teachers.cost_release import (
    CostRelease,
    ReleasedCost,
    divergence_spent,
    spent_at_worst,
)
from discreet.learning.teachers.vote_costs import UNIT
from learning.teachers.vote_oracle import divergence, histograms, neighbors, rounded_normal, winner_law
from significance import FALSE_ALARM

VOTES = GNMax(sigma=1, teachers=6, classes=3)
CHECKED = ConfidentGNMax(sigma=1, check_sigma=2, threshold=4, teachers=6, classes=3)


def answered(*labels, checks=0):
    given = np.array(labels)
    return Answers(labels=given, voted=given >= 0, checks=checks)


def test_costs_add_up_over_answers_and_checks():
    counts = np.array([[6, 0, 0], [3, 2, 1], [0, 5, 1]])
    both = divergence_spent(CHECKED, counts, answered(0, -1, 1, checks=3), 4)
    answers = divergence_spent(VOTES, counts[[0, 2]], answered(0, 1), 4)
    checks = divergence_spent(CHECKED, counts, answered(-1, -1, -1, checks=3), 4)
    assert both == answers + checks
    assert divergence_spent(CHECKED, counts, answered(-1, -1, -1, checks=2), 4) < checks
    assert 0 < both <= spent_at_worst(CHECKED, answered(0, -1, 1, checks=3), 4) + 5 * UNIT
    assert spent_at_worst(CHECKED, answered(0, -1, 1, checks=3), 4) == 2 * 4 + Fraction(3 * 4, 8)


def test_an_interactive_check_costs_by_what_is_checked():
    votes = InteractiveGNMax(sigma=1, check_sigma=2, threshold=4, sure=1, teachers=6, classes=3)
    counts, nothing = np.array([[6, 0, 0]]), answered(-1, checks=1)
    flat = divergence_spent(votes, counts, nothing, 4, [[0, 0, 0]])
    assert flat == divergence_spent(CHECKED, counts, nothing, 4)
    assert divergence_spent(votes, counts, nothing, 4, [[1, 0, 0]]) != flat


def test_two_adaptive_answers_cost_no_more_than_their_sum():
    """A run of a check and perhaps an answer, for all counts: the moment less what was spent is at most 1."""
    order = Fraction(5)
    law, noise = rounded_normal(1), rounded_normal(2)
    for counts in histograms(6, 3):
        first = run_law(counts, law, noise)
        for other in neighbors(counts):
            second = run_law(other, law, noise)
            moment = 0.0
            for label, chance in first.items():
                cost = divergence_spent(CHECKED, np.array([counts]), answered(label, checks=1), order)
                moment += (
                    chance ** float(order)
                    * second[label] ** (1 - float(order))
                    * math.exp(-(float(order) - 1) * float(cost))
                )
            assert moment <= 1 + 1e-9


def run_law(counts, law, noise):
    passed = sum(p for k, p in noise.items() if max(counts) + k >= 4)
    winners = winner_law(counts, law)
    return {-1: 1 - passed, **{label: passed * p for label, p in enumerate(winners.tolist())}}


def test_the_logarithm_moves_by_at_most_its_steps():
    """Every vote of four teachers on two queries, and every change of one teacher in both: by brute force."""
    votes = ConfidentGNMax(sigma="0.5", check_sigma="0.5", threshold=2, teachers=4, classes=3)
    given = answered(0, -1, checks=2)
    release = CostRelease(order=2, rho="0.1", decay="0.3")
    found = {
        counts: release.logarithm(votes, np.array(counts), given)
        for counts in itertools.product(histograms(4, 3), repeat=2)
    }
    largest = 0
    for (one, two), steps in found.items():
        for first in [one, *neighbors(one)]:
            for second in [two, *neighbors(two)]:
                largest = max(largest, abs(found[first, second] - steps))
        assert steps * 0.3 / 64 >= math.log(
            float(divergence_spent(votes, np.array([one, two]), given, 2) / UNIT)
        )
    assert 32 < largest <= 65


@pytest.mark.parametrize("failure", ["0.3", "0.01"])
def test_what_is_released_is_seldom_below_what_was_spent(failure):
    counts, given, runs = np.array([[6, 0, 0]] * 3), answered(0, 0, 0), 300
    release = CostRelease(order=4, rho="0.5", decay=4, failure=failure)
    exact = divergence_spent(VOTES, counts, given, 4)
    low = sum(release.release(VOTES, counts, given).divergence < exact for _ in range(runs))
    assert stats.binomtest(low, runs, float(Fraction(failure)), alternative="greater").pvalue > FALSE_ALARM
    if failure == "0.3":  # and the margin is not far more than it has to be, where the bound is smooth as is
        assert low > 0


def test_the_margin_is_the_least_one():
    release = CostRelease(order=4, rho="0.02", decay="0.05", failure="0.001")
    deviation = float(release.variance) ** 0.5
    assert release.margin == math.ceil(stats.norm.isf(0.001) * deviation + 0.5)
    assert release.event.rho <= Fraction("0.02")
    assert release.event.rho == pytest.approx(0.02, rel=1e-3)


@pytest.mark.parametrize("sigma", ["1.2", "2"])
def test_outcomes_keep_the_epsilon_that_is_released_with_them(sigma):
    """One answer and the release of its cost, by enumeration of both: the integral of theorem 8."""
    teachers, order, failure, delta = 25, Fraction(3), Fraction(1, 1000), Fraction(1, 50)
    votes = GNMax(sigma=sigma, teachers=teachers, classes=2)
    release = CostRelease(order=order, rho="0.5", decay="0.3", failure=failure)
    law, deviation = rounded_normal(float(Fraction(sigma))), float(release.variance) ** 0.5
    worst = spent_at_worst(votes, answered(0), order)
    whole = ReleasedCost(
        order=order, divergence=worst, own=order * release.event.rho, failure=failure, worst=worst
    )
    outcomes = np.arange(-20_000, 20_000)  # released logarithms, in steps
    units = np.exp(np.minimum((outcomes + release.margin) * float(release.decay) / 64, 600.0))
    epsilons = np.minimum(units * float(UNIT), float(worst)) + whole.epsilon(delta) - float(worst)

    def joint(counts):
        steps = release.logarithm(votes, np.array([counts]), answered(0))
        places = outcomes - steps
        chances = stats.norm.cdf((places + 0.5) / deviation) - stats.norm.cdf((places - 0.5) / deviation)
        return winner_law(counts, law)[:, None] * chances

    laws = {counts: joint(counts) for counts in histograms(teachers, 2)}
    gained = 0.0
    for counts, first in laws.items():
        gained = max(gained, float((first.sum(axis=0) * (whole.epsilon(delta) - epsilons)).sum()))
        for other in neighbors(counts):
            missed = np.maximum(first - np.exp(epsilons) * laws[other], 0.0).sum()
            assert missed <= float(delta)
    assert gained > float(worst) / 2  # on average, where teachers agree, less than the worst is stated


def test_it_is_never_more_than_what_holds_for_all_votes():
    counts, given = np.array([[2, 2, 2]]), answered(0)
    found = CostRelease(order=4, rho="0.001", decay=1).release(VOTES, counts, given)
    assert found.divergence <= found.worst == 4
    assert found.own == pytest.approx(0.004, rel=1e-2)


def test_no_answer_costs_nothing_but_the_release():
    none = np.empty((0, 3), dtype=int)
    found = CostRelease(order=4, rho="0.1", decay="0.1").release(VOTES, none, answered())
    assert found.divergence == 0


def test_refusals():
    found = CostRelease(order=4, rho="0.1", decay="0.1").release(VOTES, [[6, 0, 0]], answered(0))
    with pytest.raises(ParameterError, match="delta"):
        found.epsilon(1e-7)
    with pytest.raises(ParameterError, match="answers"):
        divergence_spent(VOTES, [[6, 0, 0]], answered(0, 0), 4)
    for bad in (
        {"decay": 0},
        {"decay": 9},
        {"rho": 0},
        {"failure": 0},
        {"failure": "1e-200"},
        {"rho": "1e-12"},
        {"order": 1},
    ):
        with pytest.raises(ParameterError):
            CostRelease(**{"order": 4, "rho": "0.1", "decay": "0.1", **bad})


def test_divergences_of_the_oracle_are_those_of_two_coins():
    first, second = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    assert divergence(first, second, 2) == pytest.approx(math.log(0.25 / 2 + 0.75 * 0.75 / 0.5))
