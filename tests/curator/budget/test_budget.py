"""A budget makes a filter whose limits imply what it promises, and comes back from a ledger as it was."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import accounting
from discreet.accounting.filters import (
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    TightFilter,
    UnionFilter,
    ZeroConcentratedFilter,
)
from discreet.accounting.filters.shares import SHARES
from discreet.curator import Budget, offered
from discreet.curator.ledger.canonical_json import check_body
from discreet.errors import ParameterError
from discreet.privacy import events

EPSILONS = st.fractions(0, 50) | st.sampled_from([Fraction(1, 10**k) for k in range(1, 40, 3)])
DELTAS = st.fractions(Fraction(1, 10**9), Fraction(99, 100)) | st.integers(1, 300).map(
    lambda k: Fraction(1, 10**k)
)
ZERO_CONCENTRATED = events.ZeroConcentrated(rho="1e-5")
PLAIN = st.one_of(
    st.builds(lambda e: {"epsilon": e}, EPSILONS),
    st.builds(lambda e, d: {"epsilon": e, "delta": d}, EPSILONS, DELTAS),
    st.builds(lambda r, d: {"rho": r, "delta": d}, EPSILONS, DELTAS | st.just(0)),
)


def share_of(member, epsilon):
    """The delta at which a member alone promises an epsilon, in high precision; deltas of events included."""
    if isinstance(member, PureFilter | TightFilter):
        assert member.limits["epsilon"] == epsilon
        return mpmath.mpf(member.limits["delta"].numerator) / member.limits["delta"].denominator
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        if isinstance(member, GaussianFilter):
            mu = mpmath.mpf(member.mu.numerator) / member.mu.denominator
            return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
        (order,), (limit, own) = member.orders, member.limits.values()
        a, b, o = (mpmath.mpf(x.numerator) / x.denominator for x in (order, limit, own))
        # Canonne, Kamath & Steinke 2020, Proposition 12, solved for delta.
        return o + mpmath.exp((a - 1) * (b - e + mpmath.log((a - 1) / a)) - mpmath.log(a))


@given(EPSILONS, DELTAS)
def test_the_members_promise_epsilon_with_shares_that_add_up_to_delta(epsilon, delta):
    made = Budget(epsilon=epsilon, delta=delta).filter()
    assert isinstance(made, UnionFilter)
    assert made.guarantee.epsilon == epsilon
    whole = mpmath.mpf(delta.numerator) / delta.denominator
    with mpmath.workdps(60):
        shares = [share_of(member, epsilon) for member in made.alive]
        assert mpmath.fsum(shares) <= whole * (1 + mpmath.mpf("1e-12"))
    assert sum(SHARES.values()) == 1
    assert shares[0] == 0


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
    """Most of the normal noise that any way to promise the same with half of delta would admit."""
    for epsilon, delta in ((1, 1e-6), (3, 1e-6), (10, 1e-9)):
        budget = Budget(epsilon=epsilon, delta=delta)
        best = ZeroConcentratedFilter.for_target(epsilon, delta, reserved="1/2")
        for event, least in ((ZERO_CONCENTRATED, 0.87), (events.Gaussian(noise_multiplier=1000), 0.9)):
            assert budget.filter().remaining(event) >= least * best.remaining(event)


def test_a_delta_never_buys_less():
    """Counts that a budget without a delta admits: one of all, six of a half, ten thousand of little."""
    pure, both = Budget(epsilon=3).filter(), Budget(epsilon=3, delta="1e-6").filter()
    for amount in ("3", "0.5", "0.0003"):
        event = events.DiscreteLaplace(sensitivity=1, scale=1 / Fraction(amount))
        assert both.remaining(event) >= pure.remaining(event) == int(3 / Fraction(amount))
        for _ in range(min(pure.remaining(event), 6)):
            both, pure = both.spend(event), pure.spend(event)
        assert both.largest_epsilon >= pure.largest_epsilon
        pure, both = Budget(epsilon=3).filter(), Budget(epsilon=3, delta="1e-6").filter()


RUNS = [(0.8, 0.01, 1000), (1.0, 0.01, 1000), (2.0, 0.05, 3000), (4.0, 0.01, 10_000)]


@pytest.mark.parametrize(("noise", "rate", "steps"), RUNS)
def test_a_run_fits_a_fresh_budget_of_its_tight_epsilon_and_three_percent(noise, rate, steps):
    """One order alone needed 2.3 times the epsilon of the first of these."""
    run = events.PoissonSampled(events.Gaussian(noise_multiplier=noise), rate=rate) * steps
    tight = accounting.epsilon(run, delta=1e-5)
    fresh = Budget(epsilon=1.03 * tight.upper, delta=1e-5).filter()
    assert fresh.fits(run)
    assert not Budget(epsilon=0.999 * tight.lower, delta=1e-5).filter().fits(run)
    after = fresh.spend(run)
    assert not after.fits(run)
    assert after.fits(events.Pure(epsilon=after.largest_epsilon))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8)])
@pytest.mark.parametrize("delta", ["1e-5", "1e-7", "1e-10"])
def test_normal_noise_fits_a_fresh_budget_of_its_tight_epsilon_and_three_percent(epsilon, delta):
    noise = accounting.calibrate(
        lambda one: events.Gaussian(noise_multiplier=one), epsilon=epsilon, delta=delta
    )
    event = events.Gaussian(noise_multiplier=noise)
    assert Budget(epsilon=epsilon * Fraction(103, 100), delta=delta).filter().fits(event)


def test_events_with_a_delta_may_take_most_of_it():
    made = Budget(epsilon=1, delta="1e-6").filter()
    most = events.Approximate(epsilon="0.9", delta="7.3e-7")
    after = made.spend(most)
    assert [one.title for one in after.alive] == ["tight"]
    assert after.fits(events.Pure(epsilon="0.1"))
    assert not after.fits(events.Approximate(epsilon=0, delta="1e-30"))
    assert not made.fits(events.Approximate(epsilon=0, delta="7.31e-7"))
    # With little deltas, many fit beside normal noise: by the order that keeps room for them.
    small = events.Approximate(epsilon="1/100", delta="1e-10") + events.ZeroConcentrated(rho="1e-6")
    assert made.remaining(small) > 300


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
    plain = {"epsilon": "1", "delta": "1/1000000", "rho": None, "per_analyst": None, "renews": None}
    old = Budget.from_body({**plain, "renyi": ["7", "1/10"]})
    assert old.filter() == RenyiFilter([7], ["1/10"], delta="5e-7")
    assert old.to_body() == {**plain, "renyi": ["7", "1/10"]}
    members = [
        {"filter": "PureFilter", "epsilon": "1", "delta": "0"},
        {"filter": "GaussianFilter", "mu": "1/9"},
    ]
    new = Budget.from_body({**plain, "members": members})
    assert new.filter().alive == (PureFilter(1), GaussianFilter("1/9"))
    assert new.to_body() == {**plain, "members": members}
    assert old == new == Budget(epsilon=1, delta="1e-6")
    assert "renyi" not in new.to_body()  # so that versions that know one order alone refuse to read it


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
