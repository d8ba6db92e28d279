from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning.teachers.vote_costs import (
    UNIT,
    answer_costs,
    check_costs,
    checked_order,
    smooth_costs,
)
from discreet.learning.teachers.vote_noise import GaussianVoteNoise, LaplaceVoteNoise
from effort import sizes
from learning.teachers.vote_oracle import (
    discrete_laplace,
    divergence,
    histograms,
    neighbors,
    rounded_normal,
    winner_law,
)

LAWS = [
    (GaussianVoteNoise("0.7"), rounded_normal(0.7)),
    (GaussianVoteNoise("1.5"), rounded_normal(1.5)),
    (LaplaceVoteNoise("0.8"), discrete_laplace(0.8)),
    (LaplaceVoteNoise("2.5"), discrete_laplace(2.5)),
]


@pytest.mark.few(5)
@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize(("noise", "law"), LAWS, ids=[repr(noise) for noise, _ in LAWS])
def test_no_answer_costs_more_than_stated(noise, law, classes):
    teachers = {2: 14, 3: 8, 4: 6, 5: 5}[classes]
    orders = [Fraction(3, 2), Fraction(4), Fraction(16)]
    laws = {counts: winner_law(counts, law) for counts in histograms(teachers, classes)}
    better = 0
    for order in orders:
        costs = answer_costs(noise, order, teachers, classes)
        for counts, first in laws.items():
            stated = int(costs[max(counts)]) * UNIT
            exact = max(divergence(first, laws[other], float(order)) for other in neighbors(counts))
            assert float(stated) >= exact - 1e-13
            better += stated < noise.worst(order)
    assert better > 0


def test_an_answer_costs_what_the_formula_says():
    """The largest of the bound over all q up to Q, by another search in mpmath, for unanimous teachers."""
    sigma, order, teachers = 4.0, 6, 40
    mu = mpmath.sqrt(2) / sigma

    def upper(z):
        return mpmath.erfc(z / mpmath.sqrt(2)) / 2

    def bound(z):
        q, moved = upper(z), upper(z - mu)
        moment = mpmath.exp(order * (order - 1) * mu**2 / 2) * upper(z - (order - 1) * mu)
        return mpmath.log((1 - q) ** order * (1 - moved) ** (1 - order) + moment) / (order - 1)

    for classes, top in ((2, 30), (2, 40), (5, 34), (5, 40)):
        chance = upper((2 * top - teachers - 1) / (mpmath.sqrt(2) * sigma))
        chance += (classes - 2) * upper((top - 1) / (mpmath.sqrt(2) * sigma))
        start = mpmath.findroot(lambda z, q=chance: mpmath.log(upper(z)) - mpmath.log(q), 3)
        exact = float(max(bound(start + step) for step in mpmath.linspace(0, 6, 40)))
        found = float(int(answer_costs(GaussianVoteNoise(4), Fraction(order), teachers, classes)[top]) * UNIT)
        assert exact * (1 - 1e-14) <= found <= exact * (1 + 1e-9) + 3 * float(UNIT)


def test_an_answer_with_laplace_noise_costs_what_the_formula_says():
    """The bound at Q by the law of the noise, summed up; all q up to Q by a search in mpmath."""
    gamma, order, teachers = mpmath.mpf("0.8"), 6, 15
    law = discrete_laplace(0.8)
    for classes, top in ((2, 12), (2, 15), (5, 14), (5, 15)):
        gaps = [2 * top - teachers] + [top] * (classes - 2)
        chance = mpmath.mpf(0)
        for gap in gaps:  # one class has its noise, and the other so much more
            chance += math.fsum(law[k] * law[k + more] for k in law for more in range(gap, max(law) - k + 1))

        def bound(q):
            stays = (1 - q) ** order * (1 - mpmath.exp(2 * gamma) * q) ** (1 - order)
            return mpmath.log(stays + mpmath.exp((order - 1) * 2 * gamma) * q) / (order - 1)

        exact = float(max(bound(chance * share) for share in mpmath.linspace(0, 1, 40)))
        found = float(
            int(answer_costs(LaplaceVoteNoise("0.8"), Fraction(order), teachers, classes)[top]) * UNIT
        )
        assert found == pytest.approx(exact, rel=1e-9, abs=3 * float(UNIT))


def test_agreement_is_cheap_and_disagreement_costs_the_worst():
    costs = answer_costs(GaussianVoteNoise(40), Fraction(20), 250, 10)
    assert (np.diff(costs) <= 0).all()
    assert set(costs[:126].tolist()) == {math.ceil(Fraction(20, 1600) / UNIT)}
    assert int(costs[250]) * UNIT < Fraction(20, 1600) / 200


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(5), Fraction(40)])
def test_a_check_costs_what_enumeration_says(order):
    teachers, threshold, sigma = 12, 8, 3
    law = rounded_normal(sigma)

    def chances(number):
        yes = sum(p for k, p in law.items() if number + k >= threshold)
        return np.array([yes, sum(p for k, p in law.items() if number + k < threshold)])

    costs = check_costs(Fraction(sigma), order, threshold, teachers)
    worst = float(order) / (2 * sigma**2)
    for number in range(-teachers, teachers + 1):
        exact = max(divergence(chances(number), chances(number + step), float(order)) for step in (-1, 1))
        found = float(int(costs[number + teachers]) * UNIT)
        assert found == pytest.approx(min(exact, worst), abs=1e-9)
        assert found >= exact - 1e-14


def test_a_check_far_from_its_threshold_has_a_cost():
    costs = check_costs(Fraction(1, 2), Fraction(8), 50, 100)
    assert 0 < costs[200] < 10
    assert 0 < costs[0] < 10
    assert costs[150] > 2**40


@pytest.mark.parametrize("decay", [Fraction(1, 50), Fraction(1, 3)])
def test_smooth_costs_are_the_least_that_never_jump(decay):
    costs = answer_costs(GaussianVoteNoise(2), Fraction(8), 30, 3)
    found = smooth_costs(costs, decay)
    for place, one in enumerate(found.tolist()):
        exact = max(
            int(cost) * math.exp(-float(decay) * abs(place - other)) for other, cost in enumerate(costs)
        )
        assert exact <= one <= exact * (1 + 1e-9) + 1 / -math.expm1(-float(decay))
        for other in (place - 1, place + 1):
            if 0 <= other < len(found):
                assert one <= math.exp(decay) * int(found[other])


@pytest.mark.parametrize("bad", [1, 0, -3, 1025, "nan", None])
def test_orders_that_are_none_are_refused(bad):
    with pytest.raises(ParameterError):
        checked_order(bad)


@pytest.mark.parametrize("teachers", sizes(60, 250))
def test_no_answer_of_many_teachers_costs_more_than_stated(teachers):
    """Counts as large as real ones, at the orders that are used: classes that share what the first leaves."""
    noise = GaussianVoteNoise(Fraction(4 * teachers, 25))
    law = rounded_normal(float(noise.sigma))
    for order in (Fraction(8), Fraction(30)):
        costs = answer_costs(noise, order, teachers, 4)
        for top in (teachers, teachers - teachers // 20, teachers - teachers // 8, 3 * teachers // 4):
            rest = teachers - top
            for counts in ((top, rest, 0, 0), (top, rest - rest // 2, rest // 2, 0), (0, 0, rest, top)):
                first = winner_law(counts, law)
                exact = max(
                    divergence(first, winner_law(other, law), float(order)) for other in neighbors(counts)
                )
                assert float(int(costs[top]) * UNIT) >= exact - 1e-13
