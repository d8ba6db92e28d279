"""The union of filters under full adaptivity: every strategy is searched, and wrong unions are found out."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from accounting.test_filters_adaptivity import (
    DELTA,
    FACTOR,
    TWO_ORDERS,
    response,
    some_order_example,
    spend_with,
    worst,
)
from discreet import accounting
from discreet.accounting.filters import (
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    TightFilter,
    UnionFilter,
    ZeroConcentratedFilter,
)
from discreet.accounting.filters.shares import SHARES, members_for
from discreet.accounting.filters.tight import are_steps, tight_cost
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy import REPLACE_ROW, events
from discreet.privacy.directed import log_interval

LOG2 = Fraction(math.ceil(log_interval(Fraction(2))[1] * 10**15), 10**15)


def by_orders(delta):
    """A union of two orders, each of which promises (log 32, delta) by itself."""
    limits = [
        log_interval(FACTOR ** (a - 1) * delta * a / (1 - Fraction(1, a)) ** (a - 1))[0] / (a - 1)
        for a in TWO_ORDERS
    ]
    members = [RenyiFilter([a], [limit]) for a, limit in zip(TWO_ORDERS, limits, strict=True)]
    return UnionFilter(5, DELTA, members=members)


def test_orders_that_share_delta_may_be_united_and_orders_with_all_of_it_each_may_not():
    _, table, menu = some_order_example()
    assert 0 < worst(by_orders(DELTA / 2), Fraction(FACTOR), menu, spend_with(table)) <= DELTA
    # The planted bug: to go on while some order fits, with the whole delta for each of them.
    assert worst(by_orders(DELTA), Fraction(FACTOR), menu, spend_with(table)) > Fraction(5, 4) * DELTA


def finite_menu():
    """Mechanisms of finitely many answers: coins, and the worst pairs of (epsilon, delta) guarantees."""
    table, menu = {}, {}
    for units, delta in (
        (1, 0),
        (2, 0),
        (3, 0),
        (1, Fraction(1, 50)),
        (2, Fraction(1, 20)),
        (0, Fraction(1, 20)),
    ):
        name = f"{units} units, delta {delta}"
        table[name] = (
            events.Approximate(epsilon=units * LOG2, delta=delta)
            if delta
            else events.Pure(epsilon=units * LOG2)
        )
        pair = response(Fraction(2) ** units, Fraction(delta))
        menu[name] = pair if delta else pair[1:3]
    return table, menu


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(3, 10)])
@pytest.mark.parametrize("mirrored", [False, True])
def test_no_strategy_exceeds_what_a_union_promises(delta, mirrored):
    """The members of a budget, three units of log 2: pure sums, tight pairs, orders and shares of delta."""
    table, menu = finite_menu()
    if mirrored:
        menu = {name: [(q, p) for p, q in pair] for name, pair in menu.items()}
    union = UnionFilter(3 * LOG2, delta)
    loss = worst(union, Fraction(8), menu, spend_with(table))
    assert loss <= delta
    assert loss >= delta / 3  # little of it lies idle


def test_a_union_of_members_with_all_of_delta_each_is_found_out():
    """The planted bug in the shares: a member of pure sums and one of (epsilon, delta) for other outcomes."""
    table, menu = finite_menu()
    delta = Fraction(1, 20)
    honest = UnionFilter(2 * LOG2, delta, members=[PureFilter(2 * LOG2), PureFilter(2 * LOG2, delta=delta)])
    assert worst(honest, Fraction(4), menu, spend_with(table)) <= delta
    # One whose parts are right and whose sum is not: twice the delta for those who come by another way.
    order = RenyiFilter([4], [Fraction(7, 4)], delta=delta)
    share = Fraction(order.approximate("0.3").delta)
    wrong = UnionFilter(2 * LOG2, delta, members=[PureFilter(2 * LOG2, delta=delta), order])
    assert worst(wrong, Fraction(4), menu, spend_with(table)) > delta
    assert worst(wrong, Fraction(4), menu, spend_with(table)) <= delta + share


def test_what_a_member_admits_the_union_admits():
    made = UnionFilter(1, "1e-6")
    kinds = [
        events.Pure(epsilon="1/3"),
        events.Approximate(epsilon="1/5", delta="1e-8"),
        events.ZeroConcentrated(rho="1/1000"),
        events.Gaussian(noise_multiplier=30),
        events.PoissonSampled(events.Gaussian(noise_multiplier=2), rate="1/100") * 100,
    ]
    for event in kinds:
        assert made.remaining(event) == max(one.remaining(event) for one in made.alive) > 0
        after = made
        for _ in range(min(made.remaining(event), 40)):
            after = after.spend(event)
        if made.remaining(event) <= 40:
            assert not after.fits(event)
            with pytest.raises(BudgetExceeded, match="pure epsilon of at most"):
                after.spend(event)


def test_members_die_and_stay_dead():
    made = UnionFilter(3, "1e-6")
    assert [one.title for one in made.alive] == ["pure", "tight", "Rényi", "Rényi", "Rényi", "Gaussian"]
    noisy = made.spend(events.ZeroConcentrated(rho="1/1000"))
    assert [one.title for one in noisy.alive] == ["tight", "Rényi", "Rényi", "Rényi"]
    assert noisy.members[0] is None
    whole = made.spend(events.Pure(epsilon=3))
    assert [one.title for one in whole.alive] == ["pure", "tight"]
    assert whole.largest_epsilon == 0
    assert not whole.fits(events.Pure(epsilon="1e-12"))
    assert whole.fits(events.Pure(epsilon=0))
    assert whole.fits()


def test_the_order_of_requests_changes_nothing():
    run = [
        events.Pure(epsilon="1/2"),
        events.ZeroConcentrated(rho="1/100"),
        events.Approximate(epsilon="1/10", delta="1e-8"),
    ]
    forward, backward = UnionFilter(3, "1e-6"), UnionFilter(3, "1e-6")
    for one, other in zip(run, reversed(run), strict=True):
        forward, backward = forward.spend(one), backward.spend(other)
    assert forward == backward == UnionFilter(3, "1e-6").spend(*run)
    assert hash(forward) == hash(backward)


def test_what_was_admitted_by_slightly_lower_prices_is_counted_and_nothing_after_it():
    made = UnionFilter(1, "1e-6")
    over = made.spend_recorded(events.Pure(epsilon="1.01"))
    assert not over.fits()
    assert not over.fits(events.Pure(epsilon=0))
    assert over.largest_epsilon == over.remaining(events.Pure(epsilon="1e-9")) == 0
    with pytest.raises(BudgetExceeded):
        made.spend_recorded(events.Pure(epsilon="1.02"))
    with pytest.raises(BudgetExceeded):
        made.spend(events.Pure(epsilon="1.01"))


STEP = events.PoissonSampled(events.Gaussian(noise_multiplier=2), rate="1/20")


def test_steps_of_a_run_that_was_fixed_ahead_cost_no_more_than_the_run():
    made = TightFilter(3, delta="8e-6")
    run = STEP * 500
    whole = made.cost(run)
    assert made.cost(*[STEP] * 30, within=run) == made.cost(STEP * 100, STEP * 400, within=run) == whole
    assert made.cost(*[STEP] * 3)[0] == 3 * made.cost(STEP)[0]
    assert are_steps([STEP, STEP * 499], run)
    assert not are_steps([STEP * 501], run)
    assert not are_steps([events.Pure(epsilon="1e-9")], run)
    # Whoever may choose between both ways after an answer gets a share of delta by each: there is no choice.
    assert made.cost(STEP * 501, within=run) == (None, None)
    assert made.cost(STEP, events.Pure(epsilon="1e-9"), within=run) == (None, None)
    assert made.cost(within=run) == (0, 0)
    # Of a reservation that is not a run, pairs are added up, in its own measure.
    some, small = events.Approximate(epsilon=1, delta="1e-6"), events.Gaussian(noise_multiplier=30)
    assert made.cost(small, small, within=some) == tuple(
        2 * one for one in tight_cost(small, 1, Fraction(1, 10**6))
    )
    assert made.covers(some, (small,))
    assert not made.covers(some, (small, some))


def test_steps_chosen_one_after_another_are_not_priced_as_one_run():
    made = TightFilter(3, delta="8e-6")
    once, twice = made.cost(STEP * 500), made.cost(STEP * 500, STEP * 500)
    assert twice == tuple(2 * entry for entry in once)
    assert made.cost(STEP * 1000)[0] < twice[0]


def test_a_reservation_counts_what_is_larger_in_each_member():
    made = UnionFilter(3, "1e-6")
    reserved = made.reserve(events.Pure(epsilon=1), ())
    assert reserved == made.spend(events.Pure(epsilon=1))
    used = (events.Pure(epsilon="1/2"), events.Pure(epsilon="1/2"))
    assert made.reserve(events.Pure(epsilon=1), used).alive[:2] == reserved.alive[:2]
    assert reserved.covers(events.Pure(epsilon=1), used)
    # By an order two halves are less than one, and leave room; not by sums, where the order is used up.
    assert reserved.covers(events.Pure(epsilon=1), (*used, events.Pure(epsilon="1e-9")))
    pure = UnionFilter(1, "1e-6").reserve(events.Pure(epsilon=1), used)
    assert not pure.covers(events.Pure(epsilon=1), (*used, events.Pure(epsilon="1e-9")))
    normal = (events.ZeroConcentrated(rho="1/100"),)
    assert reserved.covers(events.Pure(epsilon=1), normal)  # by an order
    after = made.reserve(events.Pure(epsilon=1), normal)
    assert "pure" not in [one.title for one in after.alive]


@pytest.mark.parametrize(
    "event",
    [
        events.Laplace(epsilon="1/20") * 100,
        events.Gaussian(noise_multiplier=3) + events.Laplace(epsilon="1/10"),
        events.DiscreteGaussian(squared_sensitivity=1, variance=30),
        events.ZeroConcentrated(rho="1/50"),
        events.ZeroConcentrated(rho="1e-7"),
        STEP * 400,
        events.Approximate(epsilon="1/2", delta="1e-8") + events.Gaussian(noise_multiplier=20),
    ],
)
def test_a_tight_pair_is_a_point_of_the_curve(event):
    epsilon, delta = tight_cost(event, Fraction(3), Fraction(8, 10**6))
    assert epsilon <= 3
    assert delta <= Fraction(8, 10**6)
    assert accounting.delta(event, epsilon=epsilon).lower <= delta


def test_bounded_losses_are_counted_without_a_delta_unless_the_curve_lies_far_below():
    limits = Fraction(3), Fraction(8, 10**7)
    assert tight_cost(events.Pure(epsilon=2), *limits) == (2, 0)
    assert tight_cost(events.Laplace(epsilon=1) * 2, *limits) == (2, 0)
    assert tight_cost(events.Laplace(epsilon="1/1000") * 10, *limits) == (Fraction(1, 100), 0)
    epsilon, delta = tight_cost(events.Laplace(epsilon="1/50") * 500, *limits)
    assert 0 < delta < limits[1]
    assert epsilon < 3
    assert tight_cost(events.ZeroConcentrated(rho=50), *limits)[0] > 3
    assert tight_cost(events.ZeroConcentrated(rho=1), Fraction(3), Fraction(0)) == (None, 0)


def test_the_shares_add_up_and_members_are_described_exactly():
    assert sum(SHARES.values()) == 1
    for epsilon, delta in (
        (Fraction(3), Fraction(1, 10**6)),
        (Fraction(1, 10**9), Fraction(1, 10**12)),
        (0, 0.5),
    ):
        for one in members_for(Fraction(epsilon), Fraction(delta)):
            assert Filter.described(json.loads(json.dumps(one.description)), one.neighbors) == one
            assert Filter.from_json(one.to_json()) == one
    written = json.loads(UnionFilter(3, "1e-6").spend(events.ZeroConcentrated(rho="1e-3")).to_json())
    assert written["members"][0] is None
    assert Filter.from_json(json.dumps(written["members"][1])).spent["delta"] > 0


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"epsilon": 1, "delta": 0}, "delta"),
        ({"epsilon": -1, "delta": 0.1}, "epsilon"),
        ({"epsilon": 1, "delta": 0.1, "members": []}, "members"),
        ({"epsilon": 1, "delta": 0.1, "members": [1]}, "members"),
        ({"epsilon": 1, "delta": 0.1, "members": [PureFilter(1, neighbors=REPLACE_ROW)]}, "members"),
    ],
)
def test_what_is_no_union_is_refused(options, parameter):
    with pytest.raises(ParameterError) as refused:
        UnionFilter(options.pop("epsilon"), options.pop("delta"), **options)
    assert refused.value.parameter == parameter


def test_a_union_without_orders_names_the_member_that_comes_closest():
    made = UnionFilter(
        1, "1e-6", members=[PureFilter(1), GaussianFilter("1/10"), ZeroConcentratedFilter("1/99")]
    )
    assert made.nearest(events.Pure(epsilon=2)).title == "pure"
    assert made.nearest(events.Gaussian(noise_multiplier=1)).title in ("Gaussian", "zero-concentrated")
    assert made.nearest(events.ZeroConcentrated(rho=1)).title == "zero-concentrated"
    assert "UnionFilter" in repr(made)


def test_readings_are_those_of_the_deltas_of_interest():
    """What is left out is left out for its delta alone."""
    spent = UnionFilter(epsilon=3, delta=Fraction(1, 1000))
    for _ in range(4):
        spent = spent.spend(events.DiscreteLaplace(sensitivity=1, scale=9))
    every = list(spent.readings(Fraction(1)))
    assert len(every) > 1
    for most in (Fraction(0), Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 2)):
        assert list(spent.readings(most)) == [pair for pair in every if pair[1] <= most]
