from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet import noise as randomness
from discreet.errors import ParameterError
from discreet.learning.teachers.vote_noise import GaussianVoteNoise, LaplaceVoteNoise, normal_tail_above
from discreet.noise import sample_laplace, sample_rounded_gaussian
from discreet.privacy.events import NoisyMax, RoundedGaussian
from learning.teachers.vote_oracle import discrete_laplace, histograms, neighbors, rounded_normal, winner_law

LAWS = [
    (GaussianVoteNoise("0.8"), rounded_normal(0.8)),
    (GaussianVoteNoise(2), rounded_normal(2)),
    (LaplaceVoteNoise("0.3"), discrete_laplace(0.3)),
    (LaplaceVoteNoise("1.5"), discrete_laplace(1.5)),
]


@pytest.mark.parametrize(("noise", "law"), LAWS, ids=[repr(noise) for noise, _ in LAWS])
def test_a_class_behind_wins_no_more_often_than_stated(noise, law):
    gaps = np.arange(1, 12)
    difference = {}
    for (one, p), (other, q) in itertools.product(law.items(), law.items()):
        difference[one - other] = difference.get(one - other, 0.0) + p * q
    exact = [sum(p for gap, p in difference.items() if gap >= least) for least in gaps]
    found = noise.overtaken(gaps)
    assert (found >= exact).all()
    if isinstance(noise, LaplaceVoteNoise):
        assert found == pytest.approx(exact, rel=1e-9)
    else:  # rounding moves both by at most 1/2
        formula = [float(mpmath.erfc((int(gap) - 1) / (2 * float(noise.sigma))) / 2) for gap in gaps]
        assert found == pytest.approx(formula, rel=1e-9)


@pytest.mark.parametrize(("noise", "law"), LAWS, ids=[repr(noise) for noise, _ in LAWS])
def test_it_is_convex_from_one_vote_on(noise, law):
    found = noise.overtaken(np.arange(1, 40))
    assert (np.diff(found, 2) >= -1e-15).all()


@pytest.mark.few(4)
@pytest.mark.parametrize("order", [1.5, 4.0, 20.0])
@pytest.mark.parametrize(("noise", "law"), LAWS, ids=[repr(noise) for noise, _ in LAWS])
def test_no_event_reaches_further_than_stated(noise, law, order):
    known = noise.reach(order)
    assert (np.diff(known.high) > 0).all()
    assert known.low[0] == 0
    assert (known.low[1:] <= known.high[:-1]).all()
    laws = {counts: winner_law(counts, law) for counts in histograms(6, 3)}
    seen = 0
    for counts, first in laws.items():
        for moved in neighbors(counts):
            second = laws[moved]
            for event in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
                chance = float(first[event].sum())
                if chance > known.high[-1] or chance < 1e-12:
                    continue
                cell = int(np.searchsorted(known.high, chance))
                moment = float((first[event] ** order * second[event] ** (1 - order)).sum())
                assert float(second[event].sum()) <= known.moved[cell] * (1 + 1e-9)
                assert moment <= known.moment[cell] * (1 + 1e-9)
                seen += 1
    assert seen > 100


def test_tails_of_a_normal_law_are_rounded_up():
    places = np.array([-5.0, -1.0, 0.0, 0.3, 2.0, 8.0, 20.0, 36.0])
    exact = [mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2 for z in places.tolist()]
    found = normal_tail_above(places)
    assert all(one >= other for one, other in zip(found.tolist(), exact, strict=True))
    assert found == pytest.approx([float(one) for one in exact], rel=1e-11)


def test_what_is_drawn_is_the_stated_law():
    with randomness.replay(3):
        drawn = GaussianVoteNoise(40).draw(100)
    with randomness.replay(3):
        assert (drawn == sample_rounded_gaussian(Fraction(1600), 100, randomness.current())).all()
    with randomness.replay(3):
        drawn = LaplaceVoteNoise("0.05").draw(100)
    with randomness.replay(3):
        assert (drawn == sample_laplace(Fraction(20), 100, randomness.current())).all()


def test_two_counts_move_by_one():
    event = GaussianVoteNoise(40).event(10)
    assert event == RoundedGaussian(squared_sensitivity=2, variance=1600, grid=1, size=10)
    assert LaplaceVoteNoise("0.05").event(10) == NoisyMax(epsilon=Fraction(1, 10))
    assert GaussianVoteNoise(40).worst(Fraction(20)) == Fraction(20, 1600)
    assert LaplaceVoteNoise("0.05").worst(Fraction(100)) == Fraction(1, 10)
    assert LaplaceVoteNoise("0.05").worst(Fraction(2)) == Fraction(1, 100)


@pytest.mark.parametrize("make", [GaussianVoteNoise, LaplaceVoteNoise])
@pytest.mark.parametrize("bad", [0, -1, "nan", 10**9, True])
def test_noise_that_is_not_certified_is_refused(make, bad):
    with pytest.raises(ParameterError):
        make(bad)
