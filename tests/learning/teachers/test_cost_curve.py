from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import ConfidentGNMax, CostRelease, GNMax, cost_curve
from discreet.learning.teachers.aggregation import Answers
from discreet.learning.teachers.cost_release import ReleasedCost
from discreet.learning.teachers.vote_costs import UNIT

VOTES = GNMax(sigma=10, teachers=100, classes=3)
RELEASE = CostRelease(order=8, rho="0.05", decay="0.2")


def test_the_worst_is_that_of_the_ledger_and_agreement_costs_less():
    curve = cost_curve(VOTES, np.full(60, 100), release=RELEASE, delta=1e-5, queries=[1, 20, 60])
    assert curve.worst[1] == accounting.epsilon(VOTES.event(20), delta=1e-5).upper
    assert curve.answers.tolist() == [1, 20, 60]
    assert (np.diff(curve.worst) > 0).all()
    assert curve.released[2] < curve.worst[2] / 2
    split = cost_curve(VOTES, np.full(60, 40), release=RELEASE, delta=1e-5, queries=[60])
    assert split.released[0] > curve.worst[2]


def test_the_forecast_is_what_a_release_without_noise_states():
    tops = np.array([100, 90, 80])
    curve = cost_curve(VOTES, tops, release=RELEASE, delta=1e-5, queries=[3])
    counts = np.stack([tops, 100 - tops, 0 * tops], axis=1)
    given = Answers(labels=np.zeros(3, dtype=int), voted=np.ones(3, dtype=bool), checks=0)
    steps = RELEASE.logarithm(VOTES, counts, given) + RELEASE.margin
    stated = ReleasedCost(
        order=Fraction(8),
        divergence=min(Fraction(float(np.exp(steps * 0.2 / 64))) * UNIT, Fraction(24, 100)),
        own=RELEASE.own,
        failure=RELEASE.failure,
        worst=Fraction(1),
    )
    assert curve.released[0] == pytest.approx(stated.epsilon(1e-5), abs=2e-3)


def test_checks_decide_how_many_are_answered():
    votes = ConfidentGNMax(sigma=10, check_sigma=5, threshold=80, most_answers=4, teachers=100, classes=3)
    curve = cost_curve(votes, [100, 50] * 10, release=RELEASE, delta=1e-5)
    assert curve.answers[-1] == pytest.approx(4, abs=0.1)
    assert curve.queries[-1] == 20
    assert curve.released[-1] < curve.worst[-1]


@pytest.mark.parametrize("bad", [[], [101], [-1], [1.5], [[3]]])
def test_guesses_that_are_no_votes_are_refused(bad):
    with pytest.raises(ParameterError, match="tops"):
        cost_curve(VOTES, bad, release=RELEASE, delta=1e-5)


def test_more_queries_than_guesses_are_refused():
    with pytest.raises(ParameterError, match="queries"):
        cost_curve(VOTES, [100], release=RELEASE, delta=1e-5, queries=[2])
