"""What an offer buys: never more than was offered, in exact fractions, and the least noise for it."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import accounting
from discreet.accounting.filters import PureFilter, ZeroConcentratedFilter, rho_below
from discreet.data import Bounds, Keys, Limits, col, count
from discreet.errors import BudgetExceeded, ParameterError, UnsupportedQuery
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.queries import Offer, TableRequest, build_request, expectations, explain, for_error, parse
from discreet.queries.noise.parts import is_least
from effort import examples
from queries.clinic import COLUMNS, TABLES, visits
from queries.noise.test_split import AGGREGATES, chosen

VISITS = TableRequest(table="visits")
QUERY = VISITS.group_by("city").agg(n=count(), m=col("cost").mean(), s=col("age").sum())
amounts = st.one_of(
    st.fractions(min_value=Fraction(1, 100), max_value=10),
    st.floats(0.01, 10),
    st.sampled_from([0.1, "1/3", 1]),
)
splits = st.lists(st.fractions(min_value=Fraction(1, 20), max_value=20), min_size=8, max_size=8)
limits = st.one_of(
    st.builds(Limits, rows=st.integers(1, 50)),
    st.builds(Limits, groups=st.integers(1, 50), rows_per_group=st.integers(1, 5)),
)


def query_of(places):
    aggregates = {f"o{index}": AGGREGATES[place] for index, place in enumerate(places)}
    return VISITS.group_by("city").agg(**aggregates)


@settings(max_examples=examples(60))
@given(chosen, amounts, limits, st.none() | splits)
def test_a_pure_offer_is_spent_exactly(places, epsilon, limit, numbers):
    query, tables = query_of(places), {"visits": visits([], limits=limit)}
    split = None if numbers is None else dict(zip(query.names, numbers, strict=False))
    offer = Offer(epsilon=epsilon)
    request = build_request(query, tables, offer, split=split)
    noises = [getattr(part.mechanism, "noise", part.mechanism) for part in request.parts]
    assert all(isinstance(noise, Laplace) for noise in noises)
    assert sum(part.mechanism.event.pure_epsilon for part in request.parts) == offer.epsilon
    budget = PureFilter(offer.epsilon)
    assert budget.cost(request.event) == (offer.epsilon, 0)
    with pytest.raises(BudgetExceeded):
        PureFilter(offer.epsilon * Fraction(999_999_999, 10**9)).spend(request.event)


@settings(max_examples=examples(60))
@given(chosen, amounts, limits, st.none() | splits)
def test_an_offer_of_rho_is_never_exceeded(places, rho, limit, numbers):
    query, tables = query_of(places), {"visits": visits([], limits=limit)}
    split = None if numbers is None else dict(zip(query.names, numbers, strict=False))
    offer = Offer(rho=rho)
    request = build_request(query, tables, offer, split=split)
    cost = ZeroConcentratedFilter(offer.rho).cost(request.event)[0]
    assert cost <= offer.rho
    assert float(cost) == pytest.approx(float(offer.rho))


@settings(max_examples=examples(40))
@given(chosen, st.floats(0.05, 5), st.sampled_from([1e-3, 1e-6, 1e-12]), limits)
def test_an_approximate_offer_is_kept(places, epsilon, delta, limit):
    request = build_request(
        query_of(places), {"visits": visits([], limits=limit)}, Offer(epsilon=epsilon, delta=delta)
    )
    pure = PureFilter(epsilon).fits(request.event)
    concentrated = ZeroConcentratedFilter.for_target(epsilon, delta).fits(request.event)
    assert pure or concentrated or accounting.epsilon(request.event, delta=delta).upper <= epsilon


@pytest.mark.few(8)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 4), 1, 3])
@pytest.mark.parametrize("delta", [Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 100)])
@pytest.mark.parametrize("groups", [24, 400])
def test_gaussian_requests_cost_the_whole_offer_and_no_more(epsilon, delta, groups):
    """A count and a sum on many groups: squares of mu add up to what the offer is worth, to a millionth."""
    columns = {"city": Keys([str(n) for n in range(400)]), "age": Bounds(0, 110)}
    tables = {"visits": visits([], limits=Limits(groups=groups, rows_per_group=1), columns=columns)}
    query = VISITS.group_by("city").agg(n=count(), s=col("age").sum())
    request = build_request(query, tables, Offer(epsilon=epsilon, delta=delta))
    if not all(isinstance(part.mechanism, Gaussian) for part in request.parts):
        assert request.event.pure_epsilon == epsilon
        return
    found = accounting.epsilon(request.event, delta=delta)
    assert epsilon * (1 - 1e-6) <= found.upper <= epsilon
    by_rho = rho_below(Fraction(epsilon), delta)
    before = [part.statistic.sensitivity.squared_l2 / (by_rho * share) for part, share in _halves(request)]
    after = [2 * part.mechanism.error.variance for part in request.parts]
    assert all(new < float(old) for old, new in zip(before, after, strict=True))


IDENTITIES = {
    Offer(epsilon=1): "d0d4dcdc3c373bbb88775093be720e611de8c2d3a0356c73fb983b7c94b4dbef",
    Offer(rho="1/10"): "7cbe193d45b9de2c414ec87a2f592f0ab6e81375788fd916a84fb6be3f5f5db8",
    # What (1, 1e-6) bought while it went by way of rho: stored answers are found by that rho.
    Offer(
        rho=rho_below(Fraction(1), Fraction(1, 10**6))
    ): "9366cadec8138e5dceac1eae1cafb0b0a259471cf3f29a2e002c8a023bb606ab",
}


@pytest.mark.parametrize("offer", IDENTITIES, ids=repr)
def test_requests_whose_noise_did_not_change_keep_their_identity(offer):
    tables = {"visits": visits([], limits=Limits(groups=40, rows_per_group=1), columns=COLUMNS)}
    query = VISITS.group_by("city", "ward", "urgent").agg(n=count(), s=col("age").sum())
    found = build_request(query, tables, offer).identity
    assert sha256(found).hexdigest() == IDENTITIES[offer]
    assert found != build_request(query, tables, Offer(epsilon=1, delta=1e-6)).identity


def _halves(request):
    """Return each part with its share of the squares of mu."""
    total = sum(part.mechanism.event.squared_mu for part in request.parts)
    return [(part, part.mechanism.event.squared_mu / total) for part in request.parts]


def test_an_approximate_offer_is_kept_by_tight_accounting_too():
    tables = {"visits": visits([], limits=Limits(groups=40, rows_per_group=1), columns=COLUMNS)}
    request = build_request(
        VISITS.group_by("city", "ward", "urgent").agg(n=count()), tables, Offer(epsilon=1, delta=1e-3)
    )
    assert isinstance(request.parts[0].mechanism, Gaussian)
    assert accounting.epsilon(request.event, delta=1e-3).upper <= 1


def test_the_noise_of_the_smaller_error_is_chosen():
    few, many = (
        {"visits": visits([], limits=limit)}
        for limit in (Limits(rows=2), Limits(groups=24, rows_per_group=1))
    )
    query = VISITS.group_by("city", "ward", "urgent").agg(n=count(), s=col("age").sum())
    for tables, kind in ((few, Laplace), (many, Gaussian)):
        request = build_request(query, tables, Offer(epsilon=1, delta=1e-6))
        assert {type(part.mechanism) for part in request.parts} == {kind}
    for tables in (few, many):
        request = build_request(query, tables, Offer(rho=0.1))
        for part in request.parts:
            assert isinstance(part.mechanism, Gaussian)
            epsilon = float(2 * part.mechanism.event.rho) ** 0.5
            laplace = Laplace(sensitivity=part.statistic.sensitivity, epsilon=epsilon, size=24)
            assert part.mechanism.error.variance <= laplace.error.variance


def test_more_permission_is_never_worse():
    """A delta beside the same epsilon, or a larger offer, never widens an interval."""
    for limit in (Limits(rows=2), Limits(groups=12, rows_per_group=1)):
        tables = {"visits": visits([], limits=limit)}
        query = VISITS.group_by("city", "ward").agg(n=count(), m=col("age").mean())
        offers = [
            Offer(epsilon=1),
            Offer(epsilon=1, delta=1e-9),
            Offer(epsilon=1, delta=1e-4),
            Offer(epsilon=1.5, delta=1e-4),
        ]
        errors = [
            sum(one.standard_deviation**2 for one in expectations(build_request(query, tables, offer))[:1])
            for offer in offers
        ]
        assert errors == sorted(errors, reverse=True)


def test_parts_fit_the_plan_and_cover_the_statistics():
    request = build_request(QUERY, TABLES, Offer(epsilon=1), confidence="0.9")
    request.check(TABLES)
    assert request.confidence == Fraction(9, 10)
    assert request.versions == (("visits", "1"),)
    assert all(part.mechanism.size == 3 for part in request.parts)
    assert all(part.mechanism.neighbors == ADD_REMOVE_PERSON for part in request.parts)
    assert tuple(output.name for output in request.outputs) == ("n", "m", "s")


def test_the_identity_tells_requests_apart():
    base = {"offer": Offer(epsilon=1), "confidence": 0.95, "split": None}
    changed = [
        {},
        {"offer": Offer(epsilon=2)},
        {"offer": Offer(rho=1)},
        {"confidence": 0.9},
        {"split": {"n": 1, "m": 2, "s": 3}},
    ]
    identities = {build_request(QUERY, TABLES, **(base | change)).identity for change in changed}
    assert len(identities) == len(changed)
    other = VISITS.group_by("city").agg(k=count(), m=col("cost").mean(), s=col("age").sum())
    assert build_request(other, TABLES, Offer(epsilon=1)).identity in identities  # another name
    other = VISITS.group_by("city").agg(m=col("cost").mean(), n=count(), s=col("age").sum())
    assert build_request(other, TABLES, Offer(epsilon=1)).identity not in identities
    newer = {"visits": visits([], limits=Limits(rows=3), version="2")}
    assert build_request(QUERY, newer, Offer(epsilon=1)).identity not in identities
    assert build_request(QUERY, TABLES, Offer(epsilon="1.0")).identity in identities


def test_names_of_interval_ends_are_taken():
    with pytest.raises(UnsupportedQuery, match="give the outputs different names"):
        build_request(VISITS.agg(n=count(), n_lower=col("age").sum()), TABLES, Offer(epsilon=1))


@pytest.mark.parametrize(
    "offer",
    [
        {},
        {"delta": 1e-6},
        {"epsilon": 1, "rho": 1},
        {"rho": 1, "delta": 1e-6},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -0.1},
        {"rho": 0},
        *({"epsilon": wrong} for wrong in (0, -1, float("nan"), float("inf"), "much", True)),
    ],
)
def test_bad_offers_are_refused(offer):
    with pytest.raises(ParameterError):
        Offer(**offer)


def test_offers():
    assert Offer(epsilon=0.1) == Offer.pure("1/10")
    assert Offer(epsilon=1, delta=0) == Offer(epsilon=1)
    assert Offer(rho=0.5) == Offer.concentrated("1/2")
    assert repr(Offer(epsilon=0.5, delta=1e-6)) == "Offer(epsilon=0.5, delta=1e-6)"


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, "x", None])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(ParameterError):
        build_request(QUERY, TABLES, Offer(epsilon=1), confidence=confidence)


@pytest.mark.parametrize("offer", [Offer(epsilon="1e-14"), Offer(rho="1e-30")])
def test_noise_that_cannot_be_drawn_is_refused(offer):
    with pytest.raises(ParameterError):
        build_request(QUERY, TABLES, offer)


@pytest.mark.parametrize("offer", [Offer(epsilon=10**6), Offer(rho=10**9)])
def test_of_more_than_the_least_noise_costs_something_is_left(offer):
    request = build_request(QUERY, TABLES, offer)
    cost, most = request.event.pure_epsilon, offer.epsilon
    if offer.rho is not None:
        cost, most = request.event.concentrated_rho, offer.rho
    assert cost < most
    assert any(is_least(part) for part in request.parts)


APPROXIMATE = lambda epsilon: Offer(epsilon=epsilon, delta=1e-6)  # noqa: E731
WAYS = {"pure": Offer.pure, "zCDP": Offer.concentrated, "approximate": APPROXIMATE}


@pytest.mark.few(4)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("error", [{"n": 10}, {"m": 100}, {"s": 500}, {"n": 5, "m": 300, "s": 2000}])
def test_the_inverse_is_the_smallest_offer(way, error):
    found = for_error(QUERY, TABLES, error=error, offer=way)

    def met(offer):
        margins = {one.name: one.margin for one in expectations(build_request(QUERY, TABLES, offer))}
        return all(margins[name] <= wanted for name, wanted in error.items())

    assert met(found)
    amount = found.rho or found.epsilon
    assert not met(way(amount * Fraction(999_999, 10**6)))


def test_the_inverse_for_one_count_is_that_of_the_mechanism():
    query = parse("SELECT COUNT(*) AS n FROM visits", TABLES)
    found = for_error(query, TABLES, error={"n": 10}, confidence="0.99999")
    mechanism = Laplace.for_error(10, confidence="0.99999", sensitivity=3)
    assert found.epsilon == mechanism.guarantee.epsilon


def test_the_inverse_depends_on_the_hypothetical_count():
    few, many = (for_error(QUERY, TABLES, error={"m": 100}, rows=rows).epsilon for rows in (1000, 100_000))
    assert many < few / 50
    split = for_error(QUERY, TABLES, error={"n": 10}, split={"n": 8, "m": 1, "s": 1})
    assert split.epsilon < for_error(QUERY, TABLES, error={"n": 10}).epsilon


@pytest.mark.parametrize(
    "wrong",
    [
        {"error": {}},
        {"error": {"x": 3}},
        {"error": {"n": 0}},
        {"error": {"n": "x"}},
        {"error": 3},
        {"error": {"n": 3}, "rows": 0},
        {"error": {"n": 3}, "split": {"n": 1}},
        {"error": {"n": 3}, "confidence": 1},
        {"error": {"n": 3}, "offer": lambda epsilon: Offer(epsilon=epsilon, delta=2)},
    ],
)
def test_bad_wishes_are_refused(wrong):
    with pytest.raises(ParameterError):
        for_error(QUERY, TABLES, **wrong)


def test_a_wish_that_no_noise_meets_is_refused():
    with pytest.raises(ParameterError, match="error cannot be met"):
        for_error(QUERY, TABLES, error={"s": 1e-30})


def test_expectations_take_a_count():
    request = build_request(QUERY, TABLES, Offer(epsilon=1))
    with pytest.raises(ParameterError, match="rows"):
        expectations(request, rows=0)
    assert [one.name for one in expectations(request)] == ["n", "m", "s"]


def test_no_data_is_touched():
    """A table without its rows is as good as any, up to the request."""
    table = visits([], limits=Limits(rows=3))
    table._relation = table._backend = None
    tables = {"visits": table}
    query = parse(
        "SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE age < 40 GROUP BY city", tables
    )
    assert build_request(query, tables, Offer(epsilon=1, delta=1e-6)).plan.cells == 3
    assert for_error(query, tables, error={"n": 10}).epsilon
    assert explain(query, tables, Offer(rho=1))
