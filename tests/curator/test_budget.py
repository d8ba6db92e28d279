"""A budget makes a filter whose limits imply what it promises, and comes back from a ledger as it was."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import accounting
from discreet.accounting.filters import PureFilter, RenyiFilter, ZeroConcentratedFilter
from discreet.curator import Budget, offered
from discreet.curator.ledger.canonical import check_body
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy import events

EPSILONS = st.fractions(0, 50) | st.sampled_from([Fraction(1, 10**k) for k in range(1, 40, 3)])
DELTAS = st.fractions(Fraction(1, 10**9), Fraction(99, 100)) | st.integers(1, 300).map(
    lambda k: Fraction(1, 10**k)
)
PLAIN = st.one_of(
    st.builds(lambda e: {"epsilon": e}, EPSILONS),
    st.builds(lambda e, d: {"epsilon": e, "delta": d}, EPSILONS, DELTAS),
    st.builds(lambda r, d: {"rho": r, "delta": d}, EPSILONS, DELTAS | st.just(0)),
)


def implied(order, limit, delta):
    """The epsilon that a Rényi divergence implies (Canonne, Kamath & Steinke 2020, Proposition 12)."""
    with mpmath.workdps(60):
        a, b, d = (mpmath.mpf(x.numerator) / x.denominator for x in (order, limit, delta))
        return b + mpmath.log((a - 1) / a) - (mpmath.log(d) + mpmath.log(a)) / (a - 1)


@given(EPSILONS, DELTAS)
def test_the_limit_at_one_order_implies_epsilon_with_half_of_delta(epsilon, delta):
    made = Budget(epsilon=epsilon, delta=delta).filter()
    assert isinstance(made, RenyiFilter)
    (order,), (limit, reserved) = made.orders, made.limits.values()
    assert reserved == delta / 2
    assert made.approximate(delta).epsilon <= epsilon
    if limit:
        assert implied(order, limit, delta - reserved) <= mpmath.mpf(epsilon.numerator) / epsilon.denominator


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (3, 1e-6), ("0.1", 1e-9), (8, 1e-5)])
@pytest.mark.parametrize(
    "event",
    [
        events.DiscreteLaplace(sensitivity=1, scale=20),
        events.DiscreteGaussian(squared_sensitivity=1, variance=900),
        events.DiscreteLaplace(sensitivity=2, scale=30)
        + events.DiscreteGaussian(squared_sensitivity=3, variance=2500),
    ],
)
def test_all_that_fits_keeps_the_promise_by_another_accountant(epsilon, delta, event):
    budget = Budget(epsilon=epsilon, delta=delta)
    run = event * budget.filter().remaining(event)
    assert float(accounting.delta(run, epsilon=budget.epsilon)) <= budget.delta


def test_little_of_the_budget_is_lost():
    """Nine tenths of the normal noise that any way to promise the same would admit."""
    for epsilon, delta in ((1, 1e-6), (3, 1e-6), (10, 1e-9)):
        budget = Budget(epsilon=epsilon, delta=delta)
        best = ZeroConcentratedFilter.for_target(epsilon, delta, reserved="1/2")
        event = events.ZeroConcentrated(rho="1e-5")
        assert budget.filter().remaining(event) >= 0.89 * best.remaining(event)


def test_events_with_a_delta_may_take_half_of_it():
    made = Budget(epsilon=1, delta="1e-6").filter()
    half = events.Approximate(epsilon=0, delta="5e-7")
    assert made.spend(half).left["delta"] == 0
    with pytest.raises(BudgetExceeded):
        made.spend(events.Approximate(epsilon=0, delta="5.1e-7"))


def test_a_pure_budget_adds_up_exactly_and_admits_no_delta():
    made = Budget(epsilon=1).filter()
    assert made == PureFilter(1)
    for _ in range(10):
        made = made.spend(events.Pure(epsilon=0.1))
    assert made.left["epsilon"] == 0
    assert not made.fits(events.Pure(epsilon="1e-300"))
    assert not Budget(epsilon=1).filter().fits(events.Approximate(epsilon="0.1", delta="1e-30"))
    assert not Budget(epsilon=1).filter().fits(events.ZeroConcentrated(rho="1e-9"))


def test_a_concentrated_budget_adds_up_rho():
    assert Budget(rho="1/2", delta="1e-6").filter() == ZeroConcentratedFilter("1/2", delta="1e-6")


@given(PLAIN, st.none() | PLAIN, st.none() | st.sampled_from(["daily", "weekly", "yearly"]))
def test_a_budget_comes_back_from_a_ledger_exactly(plain, inner, renews):
    each = None if inner is None else Budget(**inner)
    budget = Budget(**plain, per_analyst=each, renews=renews)
    body = json.loads(check_body(budget.to_body()))
    again = Budget.from_body(body)
    assert again == budget
    assert again.to_body() == body
    assert again.filter() == budget.filter()
    assert each is None or again.per_analyst.filter() == each.filter()


def test_the_order_of_the_writer_is_kept():
    """Another version may choose another order; what was spent was counted at the one that is recorded."""
    body = {**Budget(epsilon=1, delta="1e-6").to_body(), "renyi": ["7", "1/10"]}
    read = Budget.from_body(body)
    assert read.filter() == RenyiFilter([7], ["1/10"], delta="5e-7")
    assert read == Budget(epsilon=1, delta="1e-6")


def test_different_budgets_are_not_equal():
    budgets = [
        Budget(epsilon=1),
        Budget(epsilon="1.0000000001"),
        Budget(epsilon=1, delta="1e-6"),
        Budget(rho=1),
        Budget(epsilon=1, renews="daily"),
        Budget(epsilon=1, renews="weekly"),
        Budget(epsilon=1, per_analyst=Budget(epsilon=1)),
        Budget(epsilon=1, per_analyst=Budget(rho=1)),
    ]
    assert all((a == b) == (i == j) for i, a in enumerate(budgets) for j, b in enumerate(budgets))


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({}, "epsilon"),
        ({"epsilon": 1, "rho": 1}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": "1e999999999"}, "epsilon"),
        ({"epsilon": 10**10}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"rho": -1}, "rho"),
        ({"rho": 1e300}, "rho"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "delta": -1e-9}, "delta"),
        ({"epsilon": 1, "delta": float("nan")}, "delta"),
        ({"epsilon": 1, "renews": "hourly"}, "renews"),
        ({"epsilon": 1, "per_analyst": 1}, "per_analyst"),
        ({"epsilon": 1, "per_analyst": Budget(epsilon=1, renews="daily")}, "per_analyst"),
        ({"epsilon": 1, "per_analyst": Budget(epsilon=1, per_analyst=Budget(epsilon=1))}, "per_analyst"),
    ],
)
def test_what_is_no_budget_is_refused(options, parameter):
    with pytest.raises(ParameterError) as refusal:
        Budget(**options)
    assert refusal.value.parameter == parameter


@pytest.mark.parametrize("options", [{"epsilon": 0}, {"epsilon": 0, "delta": "1e-6"}, {"rho": 0}])
def test_a_budget_of_nothing_admits_nothing(options):
    made = Budget(**options).filter()
    assert not made.fits(events.Pure(epsilon="1e-9"))
    assert made.fits(events.Pure(epsilon=0))


def test_what_is_said_of_a_budget():
    assert str(Budget(epsilon=3, delta=1e-6)) == "epsilon 3, delta 1e-06"
    each = Budget(epsilon=1)
    assert str(Budget(rho="1/3", renews="monthly", per_analyst=each)) == (
        "rho 1/3, monthly, each analyst epsilon 1"
    )
    assert repr(each) == "Budget(epsilon 1)"


def test_offers():
    assert offered(epsilon=1) == offered(epsilon=1, delta=0) == events.Pure(epsilon=1)
    assert offered(epsilon=1, delta="1e-6") == events.Approximate(epsilon=1, delta="1e-6")
    assert offered(rho=1) == events.ZeroConcentrated(rho=1)
    for wrong in ({}, {"epsilon": 1, "rho": 1}, {"rho": 1, "delta": 0.1}, {"delta": 0.1}, {"epsilon": -1}):
        with pytest.raises(ParameterError):
            offered(**wrong)
