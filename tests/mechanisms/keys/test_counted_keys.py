"""Counts that are shown because they pass a threshold: exact laws of all small neighbors, and wrong ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from discreet import accounting
from discreet.accounting.filters import PureFilter, ZeroConcentratedFilter
from discreet.errors import ParameterError
from discreet.mechanisms.keys import counted_keys
from discreet.mechanisms.keys.counted_keys import CountedKeys, Reach
from discreet.mechanisms.keys.counting_noise import (
    CountingGaussian,
    CountingLaplace,
    CountingRounded,
    CountingTruncated,
)
from discreet.mechanisms.keys.key_selection import KeyOffer
from discreet.noise import replay
from discreet.privacy.events import Event
from mechanisms.counting_noise_oracle import FAR, masses
from mechanisms.key_selection_oracle import real

REACHES = [
    Reach(),
    Reach(keys=2),
    Reach(keys=1, rows=3),
    Reach(keys=2, rows=2, total=2),
    Reach(keys=2, rows=2),
    Reach(keys=3, rows=2, total=4),
    Reach(keys=2, rows=3, total=4),
]
MAKERS = {
    "truncated": counted_keys._truncated,
    "laplace": counted_keys._laplace,
    "gaussian": counted_keys._gaussian,
}
OFFERS = [{"epsilon": 1, "rho": None}, {"epsilon": Fraction(1, 2), "rho": None}, {"epsilon": None, "rho": 1}]
DELTA = Fraction(1, 20)
WIDE = 40


def made(kind, offer, reach, delta=DELTA):
    return MAKERS[kind](KeyOffer(**offer, delta=delta, keys=reach.keys), reach)


ALL = [
    (kind, offer, reach)
    for kind in MAKERS
    for offer in OFFERS
    for reach in REACHES
    if not (kind == "truncated" and offer["epsilon"] is None)
]


def shown_law(count, tails, threshold):
    """What is shown of a key: nothing, the threshold, one more, …, and all beyond as one."""
    law = np.zeros(WIDE + 2)
    law[0] = 1
    if count:
        passed = tails[threshold - count + np.arange(WIDE + 1) + FAR]
        law[1:] = passed - np.append(passed[1:], 0)
        law[0] = 1 - passed[0]
    return law


def tails_of(mechanism):
    """P(N >= m) for m from -FAR on."""
    law = masses(mechanism.noise)
    exact = [law.get(k, mpmath.mpf(0)) for k in range(-FAR, FAR + 1)]
    found = [mpmath.mpf(0)]
    for one in reversed(exact):
        found.append(found[-1] + one)
    return np.array([float(one) for one in reversed(found)])


def moves_of(reach):
    """Every way in which one person can move the counts, up to the order of keys."""
    return [
        moves
        for moves in product(range(reach.rows + 1), repeat=reach.keys)
        if 0 < sum(moves) <= reach.total and list(moves) == sorted(moves, reverse=True)
    ]


def worst_delta(mechanism, epsilon):
    """The largest hockey-stick divergence over all moves of one person, and new or old keys."""
    tails, growth, worst = tails_of(mechanism), float(mpmath.exp(real(epsilon))), 0.0
    threshold = mechanism.threshold
    for moves in moves_of(mechanism.reach):
        for starts in product((0, threshold), repeat=len(moves)):
            before = after = np.ones(1)
            for start, move in zip(starts, moves, strict=True):
                if move:
                    before = np.multiply.outer(before, shown_law(start, tails, threshold)).ravel()
                    after = np.multiply.outer(after, shown_law(start + move, tails, threshold)).ravel()
            for p, q in ((before, after), (after, before)):
                worst = max(worst, float(np.maximum(p - growth * q, 0).sum()))
    return worst


@pytest.mark.few(6)
@pytest.mark.parametrize(("kind", "offer", "reach"), ALL)
def test_epsilon_and_delta_hold_for_every_move_of_a_person(kind, offer, reach):
    mechanism = made(kind, offer, reach)
    promise = mechanism.guarantee
    assert worst_delta(mechanism, promise.epsilon) <= float(promise.delta) + 1e-12


@pytest.mark.few(4)
@pytest.mark.parametrize(("kind", "offer", "reach"), [one for one in ALL if one[2].keys < 3])
def test_the_event_charges_enough_at_every_epsilon(kind, offer, reach):
    mechanism = made(kind, offer, reach)
    for epsilon in (Fraction(1, 20), Fraction(7, 10)):
        charged = accounting.delta(mechanism.event, epsilon=float(epsilon)).upper
        assert worst_delta(mechanism, epsilon) <= charged + 1e-9


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("reach", REACHES)
def test_the_worst_moves_are_the_worst(kind, reach):
    """New keys of any possible counts pass no more often than those that the threshold was made for."""
    mechanism = made(kind, OFFERS[0], reach)
    delta = DELTA if kind == "laplace" else DELTA / 2
    for threshold, enough in ((mechanism.threshold, True), (mechanism.threshold - 1, False)):
        tails = tails_of(mechanism)
        passed = {move: 1 - shown_law(move, tails, threshold)[0] for move in range(1, reach.rows + 1)}
        worst = max(1 - np.prod([1 - passed[move] for move in moves if move]) for moves in moves_of(reach))
        if enough:
            assert worst <= delta
        elif reach.total == reach.keys * reach.rows:
            assert worst > delta


@pytest.mark.parametrize("reach", REACHES)
def test_reaches_are_those_of_all_moves(reach):
    listed = moves_of(reach)
    assert reach.squared == max(sum(move**2 for move in moves) for moves in listed)
    worst = [move for move, times in reach.worst for _ in range(times)]
    assert len(worst) == reach.keys
    for convex in (lambda c: c, lambda c: c**2, lambda c: 3**c, lambda c: max(c - 1, 0)):
        assert all(sum(map(convex, worst)) >= sum(map(convex, moves)) for moves in listed)


@pytest.mark.parametrize(
    "reach", [{"keys": 0}, {"rows": 0}, {"keys": 3, "total": 2}, {"keys": 2, "total": 5}]
)
def test_impossible_reaches_are_refused(reach):
    with pytest.raises(ParameterError):
        Reach(**reach)


def test_a_truncation_one_shorter_breaks_delta():
    mechanism = made("truncated", OFFERS[0], Reach(), Fraction(1, 1000))
    noise = CountingTruncated(scale=mechanism.noise.scale, reach=mechanism.noise.reach - 1)
    shorter = CountedKeys(
        offer=mechanism.offer, reach=Reach(), noise=noise, threshold=noise.reach + 1, event=mechanism.event
    )
    assert worst_delta(shorter, Fraction(1)) > 1 / 1000 >= worst_delta(mechanism, Fraction(1))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_threshold_one_lower_breaks_delta(kind):
    mechanism = made(kind, OFFERS[0], Reach(keys=1, rows=3))
    lower = CountedKeys(
        offer=mechanism.offer,
        reach=mechanism.reach,
        noise=mechanism.noise,
        threshold=mechanism.threshold - 1,
        event=mechanism.event,
    )
    promised = DELTA if kind == "laplace" else DELTA / 2
    assert worst_delta(lower, Fraction(50)) > promised >= worst_delta(mechanism, Fraction(50))


def test_only_noisy_counts_that_pass_are_shown():
    mechanism = CountedKeys.best(epsilon=1, delta=1e-6)
    with replay(3):
        noisy = mechanism.release([0, -5, 1, 10**6, 1 << 70])
    assert noisy[:3].tolist() == [0, 0, 0]
    assert abs(noisy[3] - 10**6) <= 14
    assert noisy[4] > 1 << 61
    assert mechanism.release([]).tolist() == []
    shown = mechanism.release(np.full(1000, mechanism.threshold))
    assert set(shown) - {0} == set(shown[shown >= mechanism.threshold])


def test_filters_charge_what_was_offered():
    for reach in REACHES:
        spent = (
            PureFilter(1, delta=0.1)
            .spend(CountedKeys.best(epsilon=0.5, delta=1e-6, reach=Reach()).event)
            .spent
        )
        assert dict(spent) == {"epsilon": Fraction(1, 2), "delta": Fraction(1, 10**6)}
        mechanism = CountedKeys.best(rho=0.25, delta=1e-6, reach=reach)
        spent = ZeroConcentratedFilter(1, delta=0.1).spend(mechanism.event).spent
        assert Fraction(1, 4) * (1 - Fraction(1, 10**12)) < spent["rho"] <= Fraction(1, 4)
        assert spent["delta"] == Fraction(1, 10**6)
        assert Event.from_json(mechanism.event.to_json()) == mechanism.event


def test_truncated_noise_shows_keys_no_later_than_laplace_noise():
    for epsilon in (Fraction(1, 100), Fraction(1, 3), Fraction(2)):
        for keys in (1, 4):
            truncated, laplace = (
                made(kind, {"epsilon": epsilon, "rho": None}, Reach(keys=keys), Fraction(1, 10**6))
                for kind in ("truncated", "laplace")
            )
            assert truncated.threshold <= laplace.threshold
            assert truncated.noise.variance_of_noise <= laplace.noise.variance_of_noise


def test_many_keys_call_for_normal_noise_and_tiny_offers_for_untruncated():
    assert isinstance(CountedKeys.best(epsilon=1, delta=1e-6, reach=Reach(keys=100)).noise, CountingRounded)
    assert isinstance(CountedKeys.best(epsilon=1e-6, delta=1e-6).noise, CountingLaplace)
    assert isinstance(CountedKeys.best(rho=0.1, delta=1e-6, reach=Reach(keys=9)).noise, CountingGaussian)
