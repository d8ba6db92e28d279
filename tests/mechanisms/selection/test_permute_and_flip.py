"""Permute-and-flip: the law of the random order, the guarantee on small inputs, never worse."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.selection import permute_and_flip
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.noise import Source, using
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from significance import FALSE_ALARM, fit_p_value


def coins(scores, rate):
    best = max(scores)
    return [mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator * int(best - s)) for s in scores]


def law_of_the_order(scores, rate):
    """The mechanism as published: a uniformly random order, the first success wins."""
    heads = coins(scores, rate)
    law = [mpmath.mpf(0)] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        still = mpmath.mpf(1) / len(orders)
        for candidate in order:
            law[candidate] += still * heads[candidate]
            still *= 1 - heads[candidate]
        assert still == 0  # the best always succeeds
    return law


def law_of_the_subset(scores, rate):
    """All coins at once, then uniform among the successes: by enumeration of all subsets."""
    heads = coins(scores, rate)
    law = [mpmath.mpf(0)] * len(scores)
    for shown in product((0, 1), repeat=len(scores)):
        mass = mpmath.fprod(p if coin else 1 - p for p, coin in zip(heads, shown, strict=True))
        for candidate, coin in enumerate(shown):
            if coin and mass:
                law[candidate] += mass / sum(shown)
    return law


def law_of_the_race(scores, rate):
    """The largest score after exponential noise, by numerical integration."""
    speed = mpmath.mpf(rate.numerator) / rate.denominator

    def below(x):
        return 1 - mpmath.exp(-speed * x) if x > 0 else mpmath.mpf(0)

    law = []
    for i, score in enumerate(scores):
        others = [s for j, s in enumerate(scores) if j != i]
        kinks = sorted({s for s in scores if s >= score})

        def wins(x, score=score, others=others):
            return speed * mpmath.exp(-speed * (x - score)) * mpmath.fprod(below(x - s) for s in others)

        law.append(mpmath.quad(wins, [*kinks, max(scores) + 40 / speed]))
    return law


class Unused(Source):
    def words(self, size):
        raise AssertionError("drew outside the coins and the uniform draw")


def implemented_law(mechanism, scores, monkeypatch):
    """Run the release on every outcome of the coins and of the uniform draw that it asks for."""
    law = [mpmath.mpf(0)] * len(scores)
    for shown in product((0, 1), repeat=len(scores)):
        script = {}

        def flip(exponents, rate, source, shown=shown, script=script):
            heads = [mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator * int(k)) for k in exponents]
            script["mass"] = mpmath.fprod(p if coin else 1 - p for p, coin in zip(heads, shown, strict=True))
            return np.array(shown)

        def below(bound, size, source, script=script):
            assert size == 1
            script["bound"] = bound
            return np.array([script["draw"]])

        with monkeypatch.context() as patch, using(Unused()):
            patch.setattr(permute_and_flip, "bernoulli_exponential", flip)
            patch.setattr(permute_and_flip, "uniform_below", below)
            if not any(shown):
                continue
            for draw in range(sum(shown)):
                script["draw"] = draw
                law[mechanism.release(scores)] += script["mass"] / script["bound"]
    return law


def close(first, second, tolerance="1e-12"):
    return all(
        abs(p - q) <= mpmath.mpf(tolerance) * (abs(p) + abs(q)) for p, q in zip(first, second, strict=True)
    )


SAMPLES = [[0], [4, 4], [0, 3], [2, 2, 2], [5, 3, 0], [1, 7, 6, 7], [0, 1, 2, 3]]


def test_three_faces():
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=0.5)
    assert mechanism.event == events.PermuteAndFlip(epsilon=Fraction(1, 2))
    assert mechanism.guarantee == PureDP(epsilon=Fraction(1, 2))
    assert mechanism.rate == Fraction(1, 4)
    assert PermuteAndFlip(sensitivity=1, epsilon=0.5, monotone=True).rate == Fraction(1, 2)
    assert type(mechanism.release([3, 1, 2])) is int
    assert mechanism.release([17]) == 0


@pytest.mark.parametrize("scores", SAMPLES)
@pytest.mark.parametrize("monotone", [False, True])
def test_the_implemented_law_is_that_of_the_random_order(scores, monotone, monkeypatch):
    mechanism = PermuteAndFlip(sensitivity=2, epsilon=Fraction(3, 2), monotone=monotone)
    rate = Fraction(3, 4) if monotone else Fraction(3, 8)
    implemented = implemented_law(mechanism, scores, monkeypatch)
    assert abs(sum(implemented) - 1) < 1e-12
    assert close(implemented, law_of_the_order(scores, rate))
    assert close(implemented, law_of_the_subset(scores, rate))


@pytest.mark.parametrize("scores", [[0, 3], [5, 3, 0], [1, 7, 6, 7]])
def test_exponential_noise_has_the_same_law(scores):
    rate = Fraction(1, 2)
    assert close(law_of_the_race(scores, rate), law_of_the_subset(scores, rate), "1e-6")


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
def test_pure_epsilon_holds_on_every_small_input(sensitivity, monotone, monkeypatch):
    """And is attained: no smaller epsilon would do."""
    epsilon = Fraction(3, 4)
    mechanism = PermuteAndFlip(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone)
    known = {}

    def law(scores):
        if scores not in known:
            known[scores] = law_of_the_subset(scores, mechanism.rate)
        return known[scores]

    moves = list(product(range(0 if monotone else -sensitivity, sensitivity + 1), repeat=3))
    worst = mpmath.mpf(0)
    for scores in product((0, 1, 2, 4), repeat=3):
        for move in moves:
            moved = tuple(s + m for s, m in zip(scores, move, strict=True))
            worst = max(
                [worst, *(abs(mpmath.log(p / q)) for p, q in zip(law(scores), law(moved), strict=True))]
            )
    assert abs(worst - float(epsilon)) < 1e-12
    for scores in product((0, 1, 4), repeat=3):
        assert close(implemented_law(mechanism, scores, monkeypatch), law(scores))


def test_scores_that_do_not_move_together_break_the_monotone_rate():
    rate = PermuteAndFlip(sensitivity=1, epsilon=1, monotone=True).rate
    loss = mpmath.log(law_of_the_subset([1, 9], rate)[0] / law_of_the_subset([0, 10], rate)[0])
    assert abs(loss - 2) < 1e-12


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("monotone", [False, True])
def test_releases_follow_the_law(monotone):
    mechanism = PermuteAndFlip(sensitivity=2, epsilon=1, monotone=monotone)
    scores = [3, 0, 7, 7, 5]
    drawn = np.array([mechanism.release(scores) for _ in range(20_000)])
    for factor, right in ((1, True), (2, False), (Fraction(1, 2), False)):
        law = [float(p) for p in law_of_the_order(scores, mechanism.rate * factor)]
        p_value = fit_p_value(drawn, lambda a, b, law=law: sum(law[a:b]), np.arange(len(scores) + 1))
        assert (p_value > FALSE_ALARM) == right


@given(
    scores=st.lists(st.integers(0, 12), min_size=1, max_size=6),
    rate=st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=20),
)
def test_never_worse_than_the_exponential_mechanism(scores, rate):
    """In expectation, and at every threshold, for every vector of scores."""
    flipped = law_of_the_subset(scores, rate)
    weights = coins(scores, rate)
    chosen = [weight / sum(weights) for weight in weights]
    gaps = [max(scores) - score for score in scores]
    for threshold in range(13):
        beyond = [gap > threshold for gap in gaps]
        assert sum(p for p, bad in zip(flipped, beyond, strict=True) if bad) <= sum(
            p for p, bad in zip(chosen, beyond, strict=True) if bad
        ) * (1 + mpmath.mpf("1e-12"))
    assert sum(p * g for p, g in zip(flipped, gaps, strict=True)) <= sum(
        p * g for p, g in zip(chosen, gaps, strict=True)
    ) * (1 + mpmath.mpf("1e-12"))


def test_the_expected_error_can_be_half_the_exponential_mechanisms():
    """Two candidates far apart: p / 2 against p / (1 + p)."""
    rate = Fraction(1)
    weights = coins([0, 9], rate)
    ratio = (weights[0] / sum(weights)) / law_of_the_subset([0, 9], rate)[0]
    assert abs(ratio - 2) < 1e-3


def test_epsilon_for_a_tolerated_error():
    mechanism = PermuteAndFlip.for_error(10, candidates=50, confidence=0.99, monotone=True)
    assert mechanism.error.tail(10, candidates=50) <= 0.01
    cheaper = PermuteAndFlip(sensitivity=1, epsilon=mechanism.epsilon * (1 - 1e-6), monotone=True)
    assert cheaper.error.tail(10, candidates=50) > 0.01
