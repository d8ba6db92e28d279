"""Filters and odometers as books: exact, against a model that adds everything up again."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from discreet.accounting.filters import (
    Filter,
    GaussianFilter,
    Odometer,
    PureFilter,
    RenyiFilter,
    ZeroConcentratedFilter,
    rho_below,
)
from discreet.accounting.filters.base import shortened
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, ADD_REMOVE_ROW, REPLACE_PERSON, REPLACE_ROW, events

ORDERS = (Fraction(2), Fraction(5, 2), Fraction(8))
TENTHS = st.integers(0, 30).map(lambda n: Fraction(n, 10))
POSITIVE = st.integers(1, 30).map(lambda n: Fraction(n, 10))
SMALL = st.integers(0, 5).map(lambda n: Fraction(n, 100))
RELATIONS = st.sampled_from(
    [ADD_REMOVE_PERSON, REPLACE_PERSON, ADD_REMOVE_PERSON.group(2), REPLACE_ROW.group(3)]
)

# A kind of simple event: how it is built from two numbers, and what it costs (None: no bound).
KINDS = {
    "pure": lambda x, y, of: events.Laplace(epsilon=x, neighbors=of),
    "approximate": lambda x, y, of: events.Approximate(epsilon=x, delta=y, neighbors=of),
    "concentrated": lambda x, y, of: events.ZeroConcentrated(rho=x, neighbors=of),
    "gaussian": lambda x, y, of: events.Gaussian(noise_multiplier=x, neighbors=of),
    "renyi": lambda x, y, of: events.Renyi(curve=[(a, x * a) for a in ORDERS], neighbors=of),
}
PRICES = {
    PureFilter: {"pure": lambda x, y: (x, 0), "approximate": lambda x, y: (x, y)},
    ZeroConcentratedFilter: {
        "pure": lambda x, y: (x * x / 2, 0),
        "approximate": lambda x, y: (x * x / 2, y),
        "concentrated": lambda x, y: (x, 0),
        "gaussian": lambda x, y: (1 / (2 * x * x), 0),
    },
    RenyiFilter: {
        "concentrated": lambda x, y: (*(a * x for a in ORDERS), 0),
        "gaussian": lambda x, y: (*(a / (2 * x * x) for a in ORDERS), 0),
        "renyi": lambda x, y: (*(a * x for a in ORDERS), 0),
    },
    GaussianFilter: {"gaussian": lambda x, y: (1 / (x * x),)},
}


def budget_of(kind, amount, delta, relation):
    if kind is RenyiFilter:
        limits = (*(amount * a for a in (3, 2, 9)), delta)
        return RenyiFilter(ORDERS, limits[:-1], delta=delta, neighbors=relation), limits
    if kind is GaussianFilter:
        return GaussianFilter(amount, neighbors=relation), (amount**2,)
    return kind(amount, delta=delta, neighbors=relation), (amount, delta)


def recipes(kind):
    names = sorted(PRICES[kind])
    simple = st.tuples(st.sampled_from(names), POSITIVE, SMALL)
    nested = st.lists(st.tuples(simple, st.integers(1, 4)), min_size=1, max_size=3)
    joined = st.tuples(st.sampled_from(["sum", "parallel"]), nested)
    return (
        simple
        | joined
        | st.tuples(st.just("sum"), st.lists(st.tuples(joined, st.integers(1, 3)), max_size=2))
    )


def event_of(recipe, relation):
    if recipe[0] == "sum":
        return sum((event_of(part, relation) * n for part, n in recipe[1]), events.Nothing)
    if recipe[0] == "parallel":
        return events.Parallel(*(event_of(part, relation) for part, n in recipe[1] for _ in range(n)))
    return KINDS[recipe[0]](*recipe[1:], relation)


def bill(recipe, kind, relation, width):
    """The twenty-line model: what a recipe costs, by the definition of each word in it."""
    if recipe[0] not in ("sum", "parallel"):
        return PRICES[kind][recipe[0]](*recipe[1:])
    parts = [bill(part, kind, relation, width) for part, n in recipe[1] for _ in range(n)]
    if recipe[0] == "sum":
        return tuple(sum(part[entry] for part in parts) for entry in range(width))
    touched = relation.size * (2 if relation.change.value == "replace" else 1)
    return tuple(sum(sorted((part[e] for part in parts), reverse=True)[:touched]) for e in range(width))


class AdaptiveRequests(RuleBasedStateMachine):
    """Requests that may depend on anything: exactly those that fit are accepted."""

    kind: type[Filter]

    @initialize(amount=POSITIVE, delta=SMALL, relation=RELATIONS)
    def open(self, amount, delta, relation):
        self.relation = relation
        self.filter, self.limits = budget_of(self.kind, amount, delta, relation)
        self.bills = []

    def fits(self, cost):
        bills = [*self.bills, cost]
        return all(sum(b[e] for b in bills) <= limit for e, limit in enumerate(self.limits))

    @rule(data=st.data())
    def ask(self, data):
        recipe = data.draw(recipes(self.kind))
        event, cost = (
            event_of(recipe, self.relation),
            bill(recipe, self.kind, self.relation, len(self.limits)),
        )
        before, expected = self.filter, self.fits(cost)
        assert before.fits(event) == expected
        if expected:
            self.filter = before.spend(event)
            self.bills.append(cost)
        else:
            with pytest.raises(BudgetExceeded):
                before.spend(event)
        count = before.remaining(event)
        assert (count >= 1) == expected
        if count < 10**18:
            assert before.fits(event * count)
            assert not before.fits(event * (count + 1))

    @rule()
    def ask_for_all_that_is_left_and_a_hair_more(self):
        left = [limit - sum(b[e] for b in self.bills) for e, limit in enumerate(self.limits)]
        build = {
            PureFilter: lambda more: events.Approximate(
                epsilon=left[0] + more, delta=left[1], neighbors=self.relation
            ),
            ZeroConcentratedFilter: lambda more: events.ZeroConcentrated(
                rho=left[0] + more, neighbors=self.relation
            ),
            RenyiFilter: lambda more: events.ZeroConcentrated(
                rho=min(x / a for a, x in zip(ORDERS, left, strict=False)) + more, neighbors=self.relation
            ),
        }.get(self.kind)
        if build is not None:
            assert self.filter.fits(build(0))
            assert 0 in list(self.filter.spend(build(0)).left.values())[: len(ORDERS)]
            with pytest.raises(BudgetExceeded):
                self.filter.spend(build(Fraction(1, 10**30)))

    @rule()
    def store_and_read(self):
        self.filter = Filter.from_json(self.filter.to_json())

    @invariant()
    def the_budget_holds(self):
        if hasattr(self, "bills"):
            spent = [sum((b[e] for b in self.bills), Fraction(0)) for e in range(len(self.limits))]
            assert list(self.filter.spent.values()) == spent
            assert all(total <= limit for total, limit in zip(spent, self.limits, strict=True))
            left = [limit - total for limit, total in zip(self.limits, spent, strict=True)]
            assert list(self.filter.left.values()) == left


@pytest.mark.parametrize("kind", PRICES, ids=lambda kind: kind.__name__)
def test_adaptive_requests_never_exceed_the_budget_and_what_fits_is_never_refused(kind):
    machine = type("Machine", (AdaptiveRequests,), {"kind": kind})
    case = machine.TestCase
    case.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
    case().runTest()


ONE_OF_EACH = [
    PureFilter(1, delta="1e-6"),
    ZeroConcentratedFilter("1/3"),
    RenyiFilter([2, 8], [1, 4], delta="1e-6", neighbors=REPLACE_ROW),
    GaussianFilter(2, neighbors=ADD_REMOVE_PERSON.group(3)),
]


@pytest.mark.parametrize("budget", ONE_OF_EACH, ids=lambda budget: type(budget).__name__)
def test_filters_are_frozen_values(budget):
    assert (
        pickle.loads(pickle.dumps(budget))
        == budget
        == copy.deepcopy(budget)
        == Filter.from_json(budget.to_json())
    )
    assert len({budget, copy.deepcopy(budget)}) == 1
    assert not hasattr(budget, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.neighbors = ADD_REMOVE_ROW
    budget.spent["epsilon"] = Fraction(1)  # a copy
    assert all(total == 0 for total in budget.spent.values())


def test_a_tenth_ten_times_is_exactly_one():
    tenths = [
        (PureFilter(1), events.Laplace(epsilon=0.1), 10),
        (ZeroConcentratedFilter(1), events.ZeroConcentrated(rho=0.1), 10),
        (RenyiFilter([2], [1]), events.Renyi(curve=[(2, 0.1)]), 10),
        (GaussianFilter(1), events.Gaussian(noise_multiplier=10), 100),
        (PureFilter(0, delta="0.7"), events.Approximate(epsilon=0, delta=0.1), 7),
    ]
    for budget, event, times in tenths:
        assert budget.remaining(event) == times
        for _ in range(times):
            budget = budget.spend(event)  # noqa: PLW2901
        assert not budget.fits(event)
        assert budget.fits(events.Nothing)


def test_how_many_more_fit_is_exact_up_to_ten_to_the_eighteen():
    third = events.Pure(epsilon="1/3")
    assert PureFilter(Fraction(10**18 - 1, 3)).remaining(third) == 10**18 - 1
    assert PureFilter(Fraction(10**18 - 1, 3) - Fraction(1, 10**30)).remaining(third) == 10**18 - 2
    assert PureFilter(10**30).remaining(third) == PureFilter(0).remaining(events.Nothing) == 10**18
    assert PureFilter(0).remaining(third) == PureFilter(1).remaining(events.Gaussian(noise_multiplier=1)) == 0


def test_relations_do_not_mix():
    for relation in (ADD_REMOVE_ROW, REPLACE_PERSON, ADD_REMOVE_PERSON.group(2)):
        event = events.Laplace(epsilon=0.1, neighbors=relation)
        for act in (PureFilter(1).spend, PureFilter(1).fits, PureFilter(1).remaining, Odometer().add):
            with pytest.raises(ParameterError, match="relations do not mix"):
                act(event)
        assert PureFilter(1, neighbors=relation).fits(event)


def test_parallel_parts_are_paid_by_relation():
    for relation, epsilon, rho in ((ADD_REMOVE_ROW, 3, Fraction(9, 2)), (REPLACE_ROW, 5, Fraction(13, 2))):
        parts = events.Parallel(*(events.Laplace(epsilon=e, neighbors=relation) for e in (1, 2, 3)))
        mixed = events.Parallel(parts, events.Approximate(epsilon=1, delta=0.1, neighbors=relation))
        assert PureFilter(9, neighbors=relation).cost(parts) == (epsilon, 0)
        assert PureFilter(9, neighbors=relation).cost(mixed) == (epsilon, Fraction(1, 10))
        assert ZeroConcentratedFilter(9, neighbors=relation).cost(mixed) == (rho, Fraction(1, 10))


def test_refusals_say_what_was_asked_what_is_left_and_what_would_fit():
    budget = PureFilter(1).spend(events.Laplace(epsilon=0.7))
    with pytest.raises(BudgetExceeded) as refusal:
        budget.spend(events.Laplace(epsilon=0.1) * 5)
    assert str(refusal.value) == (
        "Laplace(epsilon=0.1) * 5 asks for epsilon 0.5 where 0.3 of 1 is left; "
        "3 of the 5 runs, or a pure epsilon of at most 0.3 would fit"
    )
    with pytest.raises(BudgetExceeded, match=r"^Gaussian\(noise_multiplier=2\) has no pure epsilon"):
        budget.spend(events.Laplace(epsilon=0.1) + events.Gaussian(noise_multiplier=2))
    discrete = events.DiscreteGaussian(squared_sensitivity=1, variance=100)
    with pytest.raises(BudgetExceeded, match=r"DiscreteGaussian.*exactly Gaussian.*at least 0.5 would fit"):
        GaussianFilter(2).spend(discrete)
    assert not GaussianFilter(2).fits(discrete)
    with pytest.raises(
        BudgetExceeded, match=r"rho 1 where 0.5 of 0.5 is left; a rho of at most 0.5, or a pure ep"
    ):
        ZeroConcentratedFilter(0.5).spend(events.ZeroConcentrated(rho=1))
    with pytest.raises(BudgetExceeded, match="at order 8 2 where 1 of 1 is left"):
        RenyiFilter([2, 8], [9, 1]).spend(events.Renyi(curve=[(2, 1), (8, 2)]))


@pytest.mark.parametrize("budget", ONE_OF_EACH[:3], ids=lambda budget: type(budget).__name__)
def test_the_largest_epsilon_that_is_named_fits_and_hardly_more_does(budget):
    largest = budget.largest_epsilon
    assert budget.fits(events.Pure(epsilon=largest, neighbors=budget.neighbors))
    if not isinstance(budget, RenyiFilter):  # the accountant's divergence may be less than the bound used
        assert not budget.fits(
            events.Pure(epsilon=largest * Fraction(1000001, 10**6), neighbors=budget.neighbors)
        )


@pytest.mark.parametrize("bits", [10, 4095, 4096, 5000])
def test_a_sum_is_rounded_only_where_its_denominator_is_too_long(bits):
    for total in (
        Fraction(1, (1 << bits) - 1),
        Fraction(3, 1 << (bits - 1)),
        Fraction((1 << bits) - 2, (1 << bits) - 1),
    ):
        kept = shortened(total)
        if bits <= 4096:
            assert kept == total
        else:
            assert kept.denominator.bit_length() <= 4096
            assert 0 <= kept - total < Fraction(1, 2**2048)


def test_the_state_stays_small_and_is_rounded_against_us():
    budget, exact = PureFilter(10), Fraction(0)
    for n in range(1, 3000):
        exact += Fraction(1, 1000 + n)
        budget = budget.spend(events.Pure(epsilon=Fraction(1, 1000 + n)))
    assert exact <= budget.spent["epsilon"] <= exact + Fraction(1, 2**2030)
    assert budget.spent["epsilon"].denominator.bit_length() <= 4096
    assert Filter.from_json(budget.to_json()) == budget
    assert PureFilter(exact.limit_denominator(10**9) + 1).fits(events.Pure(epsilon=1))
    total = PureFilter(1)
    for n in (2**1500 - 1, 2**1501 - 1):
        total = total.spend(events.Pure(epsilon=Fraction(1, n)))
    rest = 1 - Fraction(1, 2**1500 - 1) - Fraction(1, 2**1501 - 1)
    assert 0 <= total.left["epsilon"] <= rest


@pytest.mark.parametrize(
    "change",
    [
        {"filter": "Other"},
        {"filter": None},
        {"spent": ["2", "0"]},
        {"spent": ["1"]},
        {"spent": [1, 0]},
        {"spent": ["-1", "0"]},
        {"spent": None},
        {"epsilon": 1.5},
        {"epsilon": "x"},
        {"neighbors": "anyone"},
        {"more": 1},
        {"delta": "1"},
    ],
)
def test_only_what_was_written_is_read(change):
    content = {**json.loads(PureFilter(1).to_json()), **change}
    with pytest.raises(ParameterError):
        Filter.from_json(json.dumps(content))
    for text in ("", "[]", "7", '{"filter":"PureFilter","filter":"PureFilter"}'):
        with pytest.raises(ParameterError):
            Filter.from_json(text)


def test_a_renyi_filter_charges_no_less_than_the_divergence_and_no_more_than_the_simple_bounds():
    budget = RenyiFilter(ORDERS, [9, 9, 9], delta="1/10", neighbors=REPLACE_ROW)
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(5)):
        ratio = math.exp(epsilon)
        p, q = ratio / (1 + ratio), 1 / (1 + ratio)
        pure = budget.cost(events.Pure(epsilon=epsilon, neighbors=REPLACE_ROW))
        assert pure[-1] == 0
        assert (*pure[:-1], Fraction(1, 100)) == budget.cost(
            events.Approximate(epsilon=epsilon, delta="1/100", neighbors=REPLACE_ROW)
        )
        for order, cost in zip(map(float, ORDERS), pure, strict=False):
            exact = math.log(p**order * q ** (1 - order) + q**order * p ** (1 - order)) / (order - 1)
            assert exact * (1 - 1e-12) <= cost <= min(epsilon, order * epsilon**2 / 2)
    assert budget.cost(events.Renyi(curve=[(2, 1), (3, 2)], neighbors=REPLACE_ROW))[::2] == (1, None)


def test_bad_budgets_are_refused_by_name():
    for build, name in (
        (lambda: PureFilter(-1), "epsilon"),
        (lambda: PureFilter(1, delta=1), "delta"),
        (lambda: ZeroConcentratedFilter(math.nan), "rho"),
        (lambda: ZeroConcentratedFilter.for_target(1, 0), "delta"),
        (lambda: ZeroConcentratedFilter.for_target(1, 0.1, reserved=1), "reserved"),
        (lambda: RenyiFilter([1, 2], [1, 1]), "orders"),
        (lambda: RenyiFilter([2, 2], [1, 1]), "orders"),
        (lambda: RenyiFilter([], []), "orders"),
        (lambda: RenyiFilter(2, [1]), "orders"),
        (lambda: RenyiFilter([2], [1, 2]), "epsilons"),
        (lambda: GaussianFilter("1/0"), "mu"),
        (lambda: PureFilter(1, neighbors="person"), "neighbors"),
        (lambda: PureFilter(1).spend("Laplace"), "event"),
    ):
        with pytest.raises(ParameterError, match=f"^{name} "):
            build()


def test_a_share_of_delta_is_reserved_for_events_with_a_delta():
    budget = ZeroConcentratedFilter.for_target(1, "1e-6", reserved="1/10")
    assert budget.limits["delta"] == Fraction(1, 10**7)
    assert budget.limits["rho"] == rho_below(Fraction(1), Fraction(9, 10**7))
    assert budget.fits(events.Approximate(epsilon=0.01, delta="1e-8") * 10)
    assert not budget.fits(events.Approximate(epsilon=0.01, delta="1e-8") * 11)
    promise = budget.approximate("1e-6")
    assert 1 <= promise.epsilon <= 1 + Fraction(1, 10**9) or promise.epsilon == pytest.approx(1, rel=1e-12)
    assert ZeroConcentratedFilter("1/2").guarantee.rho == Fraction(1, 2)
    for ask in (lambda: budget.guarantee, lambda: budget.approximate("1e-7"), lambda: budget.approximate(0)):
        with pytest.raises(ParameterError, match=r"^delta "):
            ask()
    curve = RenyiFilter([4, 32], [1, 2], delta="1e-7")
    at_best = min(renyi_to_epsilon(4, 1, 9e-7), renyi_to_epsilon(32, 2, 9e-7))
    assert float(curve.approximate("1e-6").epsilon) == pytest.approx(at_best, rel=1e-12)


def renyi_to_epsilon(a, divergence, delta):
    return divergence + (-math.log(delta) - math.log(a - 1) + a * math.log(1 - 1 / a)) / (a - 1)


def test_a_curve_is_promised_at_every_order_unless_a_delta_is_reserved():
    budget = RenyiFilter([8, 2], ["1/2", "1/4"], neighbors=REPLACE_ROW)
    promised = {(one.order, one.epsilon, one.neighbors) for one in budget.guarantee}
    assert promised == {(2, Fraction(1, 4), REPLACE_ROW), (8, Fraction(1, 2), REPLACE_ROW)}
    with pytest.raises(ParameterError, match="reserved"):
        _ = RenyiFilter([8, 2], ["1/2", "1/4"], delta="1e-9").guarantee
