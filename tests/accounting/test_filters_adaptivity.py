"""Filters under full adaptivity: every strategy is searched, exactly; conversions against high precision."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from discreet.accounting.filters import (
    Odometer,
    PureFilter,
    RenyiFilter,
    ZeroConcentratedFilter,
    epsilon_above,
    rho_below,
)
from discreet.privacy import events
from discreet.privacy.directed import log_interval


def response(ratio, delta=Fraction(0)):
    """The worst pair of an (log ratio, delta) guarantee, to which every other one can be simulated."""
    big, small = (1 - delta) * ratio / (1 + ratio), (1 - delta) / (1 + ratio)
    return [(delta, Fraction(0)), (big, small), (small, big), (Fraction(0), delta)]


def worst(start, factor, menu, spend):
    """The largest P(S) - factor Q(S) over all sets S of transcripts and all ways to choose the next event."""

    @cache
    def value(state, gamma):
        best = max(1 - gamma, 0)
        for name, pair in menu.items():
            after = spend(state, name)
            if after is not None:
                total = sum(p * value(after, gamma * q / p) for p, q in pair if p > 0)
                best = max(best, total)
        return best

    return value(start, factor)


def spend_with(table):
    return lambda budget, name: budget.spend(table[name]) if budget.fits(table[name]) else None


def test_no_strategy_exceeds_epsilon_and_delta_under_a_pure_filter():
    # One unit of epsilon is log 2, so that e^epsilon is rational; a filter does not know the unit.
    table = {
        (units, delta): events.Approximate(epsilon=units, delta=delta)
        for units in (1, 2)
        for delta in (Fraction(0), Fraction(1, 10), Fraction(1, 7))
    }
    menu = {(units, delta): response(Fraction(2) ** units, delta) for units, delta in table}
    for delta in (Fraction(0), Fraction(1, 7), Fraction(1, 4)):
        loss = worst(PureFilter(3, delta=delta), Fraction(8), menu, spend_with(table))
        assert loss <= delta
        assert loss >= delta * Fraction(3, 5)
        # Just below epsilon more than delta is lost: the budget is used.
        assert worst(PureFilter(3, delta=delta), Fraction(7), menu, spend_with(table)) > delta


def test_no_strategy_exceeds_the_target_under_a_concentrated_filter():
    delta = Fraction(1, 10)
    steps = ((Fraction(3, 10), Fraction(0)), (Fraction(1, 5), Fraction(1, 100)))
    table = {(e, d): events.Approximate(epsilon=e, delta=d) for e, d in steps}
    menu = {(e, d): [(float(p), float(q)) for p, q in response(Fraction(math.exp(e)), d)] for e, d in steps}
    budget = ZeroConcentratedFilter.for_target(1, delta, reserved="1/5")
    assert budget.remaining(table[steps[0]]) >= 3
    loss = worst(budget, math.e, menu, spend_with(table))
    assert 0 < loss <= float(delta)


@pytest.mark.parametrize("direction", ["in the first table", "in the second table"])
def test_no_strategy_exceeds_a_budget_with_samples_that_carry_a_delta(direction):
    # A sample of one third turns (log 4, 1/10) into (log 2, 1/30). The unit is in one table at every step.
    rate = Fraction(1, 3)
    log2, log4 = (Fraction(math.ceil(log_interval(Fraction(n))[1] * 10**15), 10**15) for n in (2, 4))
    inner = events.Approximate(epsilon=log4, delta="1/10")
    table = {
        "coin": events.Pure(epsilon=log2),
        "sample": events.PoissonSampled(inner, rate=rate),
        "two at once": events.PoissonSampled(inner * 2, rate=rate),
    }
    one = response(Fraction(4), Fraction(1, 10))
    pairs = {"sample": one, "two at once": [(a * c, b * d) for a, b in one for c, d in one]}
    menu = {"coin": response(Fraction(2))[1:3]}
    for name, pair in pairs.items():
        mixed = [((1 - rate) * q + rate * p, q) for p, q in pair]
        menu[name] = mixed if direction == "in the first table" else [(q, p) for p, q in mixed]
    delta = Fraction(1, 15)
    pure = PureFilter(3 * log2 + Fraction(1, 10**12), delta=delta)
    assert pure.remaining(table["sample"]) == 2
    loss = worst(pure, Fraction(8), menu, spend_with(table))
    assert loss <= delta
    assert loss > delta / 2 or direction == "in the second table"
    for budget in (
        ZeroConcentratedFilter("1/2", delta=delta),
        RenyiFilter([2, 4, 8], [1, "3/2", 2], delta=delta),
    ):
        assert budget.fits(table["sample"] + table["coin"])
        for whole in (Fraction(1, 10), Fraction(1, 5)):
            promise = budget.approximate(whole)
            loss = worst(budget, math.exp(promise.epsilon), menu, spend_with(table))
            assert loss <= whole
            assert loss > 0 or direction == "in the second table"


# Going on while *some* order fits. At order a, the limit implies (log 32, 1/16) by the conversion.
FACTOR, DELTA = 32, Fraction(1, 16)
PAIRS = {
    "coin": (Fraction(5, 9), Fraction(4, 9)),
    "after a large loss": (Fraction(851, 1000), Fraction(29, 1000)),
    "after a small loss": (Fraction(39, 500), Fraction(9, 10000)),
}
TWO_ORDERS = (2, 8)


def moment(p, q, order):
    """E_Q (P / Q)^order of two outcomes, in the worse direction."""
    ways = [(p, q), (q, p)]
    return max(a**order / b ** (order - 1) + (1 - a) ** order / (1 - b) ** (order - 1) for a, b in ways)


def some_order_example():
    limits = [
        log_interval(FACTOR ** (a - 1) * DELTA * a / (1 - Fraction(1, a)) ** (a - 1))[0] / (a - 1)
        for a in TWO_ORDERS
    ]
    curves = {
        name: [(a, log_interval(moment(p, q, a))[1] / (a - 1)) for a in TWO_ORDERS]
        for name, (p, q) in PAIRS.items()
    }
    rounded = {
        name: [(a, Fraction(math.ceil(c * 10**12), 10**12)) for a, c in curve]
        for name, curve in curves.items()
    }
    table = {name: events.Renyi(curve=curve) for name, curve in rounded.items()}
    menu = {name: [(p, q), (1 - p, 1 - q)] for name, (p, q) in PAIRS.items()}
    budget = RenyiFilter(TWO_ORDERS, [Fraction(math.floor(limit * 10**12), 10**12) for limit in limits])
    return budget, table, menu


def test_each_limit_of_the_example_alone_promises_the_same_epsilon_and_delta():
    budget, _, _ = some_order_example()
    for order, limit in zip(TWO_ORDERS, budget.limits.values(), strict=False):
        single = RenyiFilter([order], [limit]).approximate(DELTA)
        assert single.epsilon <= math.log(FACTOR) * (1 + 1e-9)
        log_delta = (
            (order - 1) * (limit - math.log(FACTOR)) - math.log(order - 1) + order * math.log1p(-1 / order)
        )
        assert log_delta == pytest.approx(math.log(DELTA), rel=1e-9)


def test_going_on_while_some_order_fits_overspends():
    budget, table, menu = some_order_example()
    limits = [budget.limits[name] for name in budget.names[:-1]]

    def naive(state, name):
        after = tuple(total + cost for total, (_, cost) in zip(state, table[name].curve, strict=True))
        return after if any(a <= limit for a, limit in zip(after, limits, strict=True)) else None

    # By hand: a coin, then what its answer suggests. On each path some order fits.
    zero = (Fraction(0),) * len(limits)
    after_coin = naive(zero, "coin")
    loss = Fraction(0)
    for (p, q), choice in zip(menu["coin"], ("after a large loss", "after a small loss"), strict=True):
        assert naive(after_coin, choice) is not None
        loss += sum(max(p * a - FACTOR * q * b, 0) for a, b in menu[choice])
    assert loss > Fraction(5, 4) * DELTA
    assert worst(zero, Fraction(FACTOR), menu, naive) >= loss

    # Not adaptive, each choice alone is fine, by the theorem at that order.
    for choice in ("after a large loss", "after a small loss"):
        fixed = [(p * a, q * b) for p, q in menu["coin"] for a, b in menu[choice]]
        assert sum(max(p - FACTOR * q, 0) for p, q in fixed) <= DELTA

    # The filter refuses both after the coin, and no strategy exceeds delta under it.
    spent = budget.spend(table["coin"])
    assert not spent.fits(table["after a large loss"])
    assert not spent.fits(table["after a small loss"])
    assert 0 < worst(budget, Fraction(FACTOR), menu, spend_with(table)) <= DELTA


@pytest.mark.slow
def test_no_strategy_exceeds_the_curve_at_any_order():
    pairs = {
        "a": (Fraction(3, 5), Fraction(2, 5)),
        "b": (Fraction(1, 5), Fraction(1, 9)),
        "c": (Fraction(1, 2), Fraction(1, 3)),
    }
    table = {
        name: events.Renyi(
            curve=[
                (a, Fraction(math.ceil(log_interval(moment(p, q, a))[1] / (a - 1) * 10**9), 10**9))
                for a in (2, 3)
            ]
        )
        for name, (p, q) in pairs.items()
    }
    start = RenyiFilter([2, 3], [Fraction(1, 2), Fraction(2, 3)])

    def largest(budget, order):
        continued = [
            sum(
                q * (p / q) ** order * largest(budget.spend(event), order)
                for p, q in ((x, y), (1 - x, 1 - y))
            )
            for name, event in table.items()
            for x, y in (pairs[name], pairs[name][::-1])
            if budget.fits(event)
        ]
        return max([Fraction(1), *continued])

    for order, limit in ((2, 0.5), (3, 2 / 3)):
        reached = math.log(largest(start, order)) / (order - 1)
        assert 0.7 * limit < reached <= limit


def gaussian_hockey_stick(square, gamma):
    """The delta at factor gamma of the normal pair with mu^2 = square."""
    if square == 0:
        return max(1 - gamma, 0.0)
    mu = math.sqrt(square)
    log_gamma = math.log(gamma)
    return special.ndtr(mu / 2 - log_gamma / mu) - gamma * special.ndtr(-mu / 2 - log_gamma / mu)


@pytest.mark.parametrize(("first", "second"), [(0.25, 0.75), (1.0, 3.0)])
@pytest.mark.parametrize("gamma", [0.7, 1.0, math.e, 20.0])
def test_no_choice_after_a_gaussian_answer_exceeds_the_gaussian_budget(first, second, gamma):
    mu = math.sqrt(first)

    def value(rule):
        """E_P of what is lost after the loss x of the first answer, if `rule` says how much to spend then."""
        density = lambda x: math.exp(-((x - first / 2) ** 2) / (2 * first)) / (mu * math.sqrt(2 * math.pi))  # noqa: E731
        integrand = lambda x: density(x) * gaussian_hockey_stick(rule(x), gamma * math.exp(-x))  # noqa: E731
        spread = first / 2 + 10 * mu
        return integrate.quad(
            integrand, -spread, spread, points=[0.0, math.log(gamma)], epsabs=1e-12, limit=200
        )[0]

    budget = gaussian_hockey_stick(first + second, gamma)
    assert value(lambda x: second) == pytest.approx(budget, abs=1e-9)
    for choose in (lambda x: second if x > 0 else 0, lambda x: second / 3 if x > 0 else second, lambda x: 0):
        assert value(choose) < budget


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_the_pure_reading_bounds_the_realized_loss_at_every_moment(units):
    odometer, ratios = Odometer(), {Fraction(1)}
    for n in units:
        odometer = odometer.add(events.Pure(epsilon=n))
        ratios = {r * p / q for r in ratios for p, q in response(Fraction(2) ** n)[1:3]}
        assert max(ratios) == Fraction(2) ** int(odometer.epsilon)  # in units of log 2


def delta_by_search(rho, epsilon):
    """The least over orders of the conversion of Canonne, Kamath & Steinke, in high precision."""
    with mpmath.workdps(50):
        rho, epsilon = mpmath.mpf(rho.numerator) / rho.denominator, mpmath.mpf(epsilon)

        def log_delta(gap):
            a = 1 + mpmath.exp(gap)
            return (a - 1) * (a * rho - epsilon) - mpmath.log(a - 1) + a * mpmath.log(1 - 1 / a)

        low, high = mpmath.mpf(-20), mpmath.mpf(25)
        for _ in range(200):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if log_delta(left) < log_delta(right) else (left, high)
        return mpmath.exp(log_delta(low))


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(8)])
def test_a_target_gets_the_largest_rho_and_never_more(epsilon, delta):
    rho = rho_below(epsilon, delta)
    target = mpmath.mpf(delta.numerator) / delta.denominator
    assert target * (1 - mpmath.mpf("1e-9")) <= delta_by_search(rho, epsilon) <= target
    # The way back may be shorter: from deltas of 1e-6 on it takes the optimum at its order.
    back = epsilon_above(rho, delta)
    assert back <= float(epsilon) * (1 + 1e-12)
    assert back == pytest.approx(float(epsilon), rel=1e-12) or delta >= Fraction(1, 10**6)
    # A normal law with this rho must have a smaller delta still.
    mu = math.sqrt(2 * rho)
    for kept in (epsilon, back):
        exact = special.ndtr(mu / 2 - kept / mu) - math.exp(kept) * special.ndtr(-mu / 2 - kept / mu)
        assert exact <= delta
