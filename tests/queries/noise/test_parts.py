"""The ways to spend an offer, and noise that is fitted to what can be drawn."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.curator.request.coarse_noise import CoarseNoise
from discreet.data import sensitivity
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import bind
from discreet.queries.noise.parts import fitted_noise, is_least, noise_parts, stated_noise, ways_of
from discreet.queries.sql.select import parse
from queries.counts.surveys import survey, table

TABLES = {"visits": table(survey(10))}


def bound_of(sql):
    return bind(parse(sql, TABLES), TABLES)


def statistic():
    return bound_of("SELECT COUNT(*) AS n FROM visits").statistics.statistics[0]


def test_an_offer_can_be_spent_in_its_ways():
    (pure,) = ways_of(Offer(epsilon=2), choosing=False)
    assert (pure.amount, pure.offer) == (2, Offer(epsilon=2))
    (concentrated,) = ways_of(Offer(rho="0.5"), choosing=True)
    assert concentrated.offer == Offer(rho="0.5")
    three = ways_of(Offer(epsilon=1, delta="1e-6"), choosing=False)
    assert len(three) == 3
    assert len(ways_of(Offer(epsilon=1, delta="1e-6"), choosing=True)) == 2
    gaussian = three[-1]
    assert gaussian.amount == largest_mu(Fraction(1), Fraction(1, 10**6)) ** 2
    assert gaussian.offer == Offer(epsilon=1, delta="1e-6")


@pytest.mark.parametrize("offer", [Offer(epsilon=2), Offer(rho="0.5"), Offer(epsilon=1, delta="1e-6")])
def test_shares_of_every_way_add_up(offer):
    for way in ways_of(offer, choosing=False):
        parts = [way.share(Fraction(part, 10)) for part in (3, 7)]
        assert sum(part.amount for part in parts) == way.amount
        costs = [stated_noise(part, statistic(), 1).event for part in parts]
        whole = stated_noise(way, statistic(), 1).event
        if isinstance(stated_noise(way, statistic(), 1), Laplace):
            assert sum(cost.pure_epsilon for cost in costs) <= whole.pure_epsilon
        else:
            spent = float(sum(cost.concentrated_rho for cost in costs))
            assert spent <= float(whole.concentrated_rho) * (1 + 1e-12)


def test_noise_is_as_bought_unless_it_cannot_be_drawn():
    (way,) = ways_of(Offer(epsilon=2), choosing=False)
    assert fitted_noise(way, statistic(), 1) == stated_noise(way, statistic(), 1)
    for offer in (Offer(epsilon=10**6), Offer(rho=10**9)):
        (way,) = ways_of(offer, choosing=False)
        with pytest.raises(ParameterError):
            stated_noise(way, statistic(), 1)
        least = fitted_noise(way, statistic(), 1)
        assert isinstance(least, Laplace | Gaussian)
    (way,) = ways_of(Offer(epsilon="1e-13"), choosing=False)
    with pytest.raises(ParameterError):  # rounded or not, a count moves by a step
        fitted_noise(way, statistic(), 1)


def test_only_what_cannot_be_drawn_is_fitted():
    bound = bound_of("SELECT COUNT(*) AS n, SUM(cost * age) AS s FROM visits")
    usual = noise_parts(bound, Offer(epsilon=1), None, Fraction(19, 20))
    assert not any(is_least(part) for part in usual)
    assert all(isinstance(part.mechanism, Laplace) for part in usual)
    little = noise_parts(bound, Offer(epsilon="1e-9"), None, Fraction(19, 20))
    assert [isinstance(part.mechanism, CoarseNoise) for part in little] == [False, True]
    assert sum(part.mechanism.event.pure_epsilon for part in little) == Fraction(1, 10**9)
    plenty = noise_parts(bound, Offer(epsilon=5000), None, Fraction(19, 20))
    assert [is_least(part) for part in plenty] == [True, False]
    assert sensitivity(bound.plan, TABLES).statistics == tuple(part.statistic for part in plenty)
