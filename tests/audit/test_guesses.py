"""Bounds on right guesses: against the best mechanism by linear programs, enumeration, and mpmath."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from discreet.audit import guesses as audited
from discreet.audit.claims import points
from discreet.audit.guesses import STEP, is_refuted, least_parameter, parameter_of, with_parameter
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

CLAIMS = [
    PureDP(epsilon=1),
    ApproximateDP(epsilon=1, delta="0.05"),
    ApproximateDP(epsilon="0.3", delta="0.2"),
    GaussianDP(mu=1),
]


def largest_chance(right, guesses, flips, claim):
    """The largest probability that is not refuted, to 2^-40, by bisection."""
    low, high = Fraction(0), Fraction(1)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if is_refuted(right, guesses, flips, claim, middle) else (middle, high)
    return float(high)


def some_points(claim):
    """A few points of a claim, so that linear programs stay small."""
    every = points(claim)
    return every[:: 8 if len(every) > 1 else 1]


@pytest.fixture
def few_points(monkeypatch):
    """Hold what is audited to the same few points as the linear program."""
    audited._lines.cache_clear()
    monkeypatch.setattr(audited, "_points", some_points)
    yield
    audited._lines.cache_clear()


def best_mechanism(right, guesses, flips, claim):
    """P(V >= right) of the best mechanism that keeps all points of a claim, by a linear program.

    Its outputs are the guesses themselves. Variables are P(output | coins), and for every point and every
    pair of neighbors what exceeds e^epsilon times the other, which sums to delta at most.
    """
    coins = list(product((0, 1), repeat=flips))
    outputs = [
        dict(zip(places, values, strict=True))
        for places in combinations(range(flips), guesses)
        for values in product((0, 1), repeat=guesses)
    ]
    place = {s: index for index, s in enumerate(coins)}
    pairs = [
        (s, tuple(1 - one if at == j else one for at, one in enumerate(s)))
        for s in coins
        for j in range(flips)
    ]
    many, curve = len(outputs), some_points(claim)
    laws = len(coins) * many
    excess = {
        key: laws + at * many for at, key in enumerate((k, pair) for k in range(len(curve)) for pair in pairs)
    }
    width = laws + len(excess) * many
    rows, limits = [], []
    for (k, (s, other)), start in excess.items():
        total = np.zeros(width)
        total[start : start + many] = 1
        rows.append(total)
        limits.append(curve[k][1])
        for y in range(many):
            row = np.zeros(width)
            row[place[s] * many + y], row[place[other] * many + y] = 1, -exp(curve[k][0])
            row[start + y] = -1
            rows.append(row)
            limits.append(0)
    goal = np.zeros(width)
    for s in coins:
        for y, guess in enumerate(outputs):
            goal[place[s] * many + y] = -(sum(s[j] == value for j, value in guess.items()) >= right) / len(
                coins
            )
    sums = np.zeros((len(coins), width))
    for index in range(len(coins)):
        sums[index, index * many : (index + 1) * many] = 1
    found = linprog(goal, A_ub=np.array(rows), b_ub=limits, A_eq=sums, b_eq=np.ones(len(coins)))
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize(
    "claim", CLAIMS, ids=lambda claim: f"{type(claim).__name__} {parameter_of(claim)[1]}"
)
@pytest.mark.parametrize(("right", "guesses", "flips"), [(1, 1, 1), (2, 2, 2), (1, 1, 2), (1, 2, 2)])
@pytest.mark.usefixtures("few_points")
def test_no_mechanism_does_better_than_the_bound(claim, right, guesses, flips):
    best = best_mechanism(right, guesses, flips, claim)
    assert best <= largest_chance(right, guesses, flips, claim) + 1e-9
    if isinstance(claim, ApproximateDP):
        without = PureDP(epsilon=claim.epsilon)
        assert best > largest_chance(right, guesses, flips, without) + 1e-3 or right < guesses


def test_the_bound_is_that_of_the_best_mechanism_for_all_guesses_right():
    for claim in CLAIMS[:3]:
        assert largest_chance(2, 2, 2, claim) == pytest.approx(best_mechanism(2, 2, 2, claim), rel=0.25)
        assert largest_chance(1, 1, 1, claim) == pytest.approx(best_mechanism(1, 1, 1, claim), abs=1e-9)


def test_tails_of_randomized_response_meet_every_step_with_equality():
    p, r = exp(1) / (1 + exp(1)), 12
    tails = [binom.sf(c - 1, r, p) for c in range(r + 1)]
    for c in range(1, r + 1):
        share = c * tails[c] + sum(tails[c + 1 :])
        needed = (share * exp(-1) + sum(tails[c:])) / (r - c + 1)
        assert tails[c - 1] == pytest.approx(needed, rel=1e-12)


@pytest.mark.parametrize(("right", "guesses"), [(8, 10), (80, 100), (800, 1000)])
def test_pure_bounds_are_just_above_the_binomial_tail(right, guesses):
    tail = binom.sf(right - 1, guesses, exp(1) / (1 + exp(1)))
    assert tail <= largest_chance(right, guesses, guesses, PureDP(epsilon=1)) <= 1.3 * tail + 1e-9


def test_fewer_guesses_of_more_coins_prove_the_same_without_delta_and_less_with_it():
    pure, approximate = PureDP(epsilon=1), ApproximateDP(epsilon=1, delta="1e-4")
    assert largest_chance(20, 20, 1000, pure) == pytest.approx(largest_chance(20, 20, 20, pure))
    assert largest_chance(20, 20, 1000, approximate) > 2 * largest_chance(20, 20, 20, approximate)


def test_rounding_is_down_and_by_very_little():
    """The loop of `is_refuted` in 60 digits refutes a little more, and all that it refutes."""
    claim, right, guesses, flips = ApproximateDP(epsilon="0.7", delta="1e-3"), 70, 90, 100
    with mpmath.workdps(60):

        def refuted(chance):
            tails = {right: chance}
            for c in range(right, 0, -1):
                above = mpmath.fsum(tails[i] for i in tails if i > c)
                share = (c * tails[c] + above) / flips
                q = max((share - mpmath.mpf(1) / 1000) * mpmath.exp(mpmath.mpf(-7) / 10), 0)
                tails[c - 1] = max(tails[c], (flips * q + above + tails[c]) / (guesses - c + 1))
            return tails[0] > 1

        low, high = mpmath.mpf(0), mpmath.mpf(1)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if refuted(middle) else (middle, high)
        edge = Fraction(int(mpmath.floor(high * 2**80)), 2**80)
    assert not is_refuted(right, guesses, flips, claim, edge * (1 - Fraction(1, 10**12)))
    assert is_refuted(right, guesses, flips, claim, edge * (1 + Fraction(1, 10**9)))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_bound_exceeds_the_truth_as_seldom_as_stated(epsilon):
    """Randomized response with 60 coins, every count of right guesses with its probability."""
    claim, failure = PureDP(epsilon=epsilon), Fraction(1, 20)
    law = binom.pmf(np.arange(61), 60, 1 / (1 + exp(-epsilon)))
    bounds = [least_parameter(right, 60, 60, claim, failure) for right in range(61)]
    above = sum(mass for mass, bound in zip(law, bounds, strict=True) if bound > epsilon)
    assert 0.005 < above <= failure
    assert bounds == sorted(bounds)
    assert bounds[30] == 0
    assert bounds[60] > 2.5


def test_parameters_of_every_kind_of_claim():
    named = {
        PureDP(epsilon=2): "epsilon",
        ApproximateDP(epsilon=2, delta="1e-6"): "epsilon",
        RenyiDP(order=4, epsilon=2): "epsilon",
        ZeroConcentratedDP(rho=2): "rho",
        GaussianDP(mu=2): "mu",
    }
    for claim, name in named.items():
        assert parameter_of(claim) == (name, 2)
        assert with_parameter(claim, Fraction(2)) == claim
        assert parameter_of(with_parameter(claim, STEP))[1] == STEP
        bounds = [least_parameter(right, 200, 200, claim, Fraction(1, 100)) for right in (100, 170, 200)]
        assert bounds[0] == 0 <= bounds[1] < bounds[2]
