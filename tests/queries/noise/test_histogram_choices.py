"""What choices cost: exactly the offer in epsilon, at most the offer in rho, however they are split."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from discreet.accounting.filters import PureFilter, ZeroConcentratedFilter
from discreet.curator.request.histogram_choices import Choices
from discreet.data import Keys, Limits, col, correlation, count, count_persons
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.mechanisms import Exponential, PermuteAndFlip, TopK
from discreet.queries import Offer, TableRequest, build_request, expectations, explain, for_error
from effort import examples
from queries.clinic import COLUMNS, visits

VISITS = TableRequest(table="visits")
AGGREGATES = [
    count(),
    count_persons(),
    col("note").count_distinct(),
    col("age").median(),
    col("age").quantile("1/3"),
    col("age").min(),
    col("cost").max(),
    col("city").mode(),
    col("city").top(2),
    col("age").variance(),
    col("cost").std(sample=True),
    correlation(col("age"), col("balance")),
]
chosen = st.lists(st.sampled_from(range(len(AGGREGATES))), min_size=1, max_size=5)
limits = st.one_of(
    st.builds(Limits, rows=st.integers(1, 50)),
    st.builds(Limits, groups=st.integers(1, 50), rows_per_group=st.integers(1, 5)),
)
amounts = st.fractions(min_value=Fraction(1, 50), max_value=10, max_denominator=1000)
splits = st.none() | st.lists(st.fractions(min_value=Fraction(1, 20), max_value=20), min_size=5, max_size=5)


def asked(places, limit, numbers):
    query = VISITS.group_by("urgent").agg(
        **{f"o{index}": AGGREGATES[place] for index, place in enumerate(places)}
    )
    split = None if numbers is None else dict(zip(query.names, numbers, strict=False))
    return query, {"visits": visits([], limits=limit)}, split


@settings(max_examples=examples(40), deadline=None)
@given(chosen, amounts, limits, splits)
def test_a_pure_offer_is_spent_exactly(places, epsilon, limit, numbers):
    query, tables, split = asked(places, limit, numbers)
    try:
        request = build_request(query, tables, Offer(epsilon=epsilon), split=split)
    except ParameterError as error:  # a tiny share of a tiny offer for a large sum of squares
        if "noise that is out of range" not in str(error):
            raise
        reject()
    assert request.event.pure_epsilon == epsilon
    assert PureFilter(epsilon).cost(request.event) == (epsilon, 0)


@settings(max_examples=examples(40), deadline=None)
@given(chosen, amounts, limits, splits)
def test_an_offer_of_rho_is_never_exceeded(places, rho, limit, numbers):
    query, tables, split = asked(places, limit, numbers)
    request = build_request(query, tables, Offer(rho=rho), split=split)
    cost = ZeroConcentratedFilter(rho).cost(request.event)[0]
    assert rho * Fraction(99, 100) < cost <= rho


def choices_of(offer, limit, **aggregates):
    tables = {"visits": visits([], limits=limit)}
    request = build_request(VISITS.group_by("urgent").agg(**aggregates), tables, offer)
    return next(part.mechanism for part in request.parts if isinstance(part.mechanism, Choices))


@pytest.mark.parametrize(
    "limit", [Limits(rows=6), Limits(groups=2, rows_per_group=3)], ids=["rows", "groups"]
)
def test_which_mechanism_chooses(limit):
    """Permute-and-flip where epsilon counts; the exponential mechanism where rho does."""
    pure, rho = (
        choices_of(offer, limit, m=col("city").mode(), t=col("city").top(2), q=col("age").median())
        for offer in (Offer(epsilon=1), Offer(rho="1/2"))
    )
    assert isinstance(pure.choices[0].mechanism, PermuteAndFlip)
    assert isinstance(rho.choices[0].mechanism, Exponential)
    assert all(isinstance(one.choices[1].mechanism, TopK) for one in (pure, rho))
    assert all(one.mechanism.monotone for made in (pure, rho) for one in made.choices)
    assert pure.choices[0].groups == (1 if limit.rows else 2)


def test_groups_cost_less_in_rho_than_all_rows_at_once():
    """g choices of e / g cost e^2 / (8 g), so that more epsilon is to be had."""
    by_rows, by_groups = (
        choices_of(Offer(rho=1), limit, q=col("age").median())
        for limit in (Limits(rows=2), Limits(groups=2, rows_per_group=1))
    )
    assert by_groups.choices[0].mechanism.rate > by_rows.choices[0].mechanism.rate


def test_a_split_reaches_the_choices():
    tables = {"visits": visits([], limits=Limits(rows=1))}
    query = VISITS.agg(a=col("age").median(), b=col("age").min())
    request = build_request(query, tables, Offer(epsilon=1), split={"a": 3, "b": 1})
    rates = [one.mechanism.event.pure_epsilon for one in request.parts[0].mechanism.choices]
    assert rates == [Fraction(3, 8), Fraction(3, 8), Fraction(1, 4)]
    request = build_request(query, tables, Offer(epsilon=1), split={"a": 1, "b": 1})
    assert [one.mechanism.event.pure_epsilon for one in request.parts[0].mechanism.choices] == [
        Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.few(6)
@pytest.mark.parametrize("offer", [Offer.pure, Offer.concentrated, lambda e: Offer(epsilon=e, delta=1e-6)])
@pytest.mark.parametrize(
    ("aggregate", "margin"),
    [
        (col("age").median(), 5),
        (col("age").min(), 20),
        (col("city").mode(), 10),
        (col("city").top(2), 10),
        (col("age").variance(), 100),
        (col("age").std(), 5),
        (correlation(col("age"), col("balance")), "1/5"),
        (count_persons(), 10),
        (col("note").count_distinct(), 10),
    ],
)
def test_the_offer_for_a_wanted_error(aggregate, margin, offer):
    tables = {"visits": visits([], limits=Limits(rows=3))}
    query = VISITS.agg(x=aggregate)
    found = for_error(query, tables, error={"x": margin}, offer=offer, rows=2000)
    (expected,) = expectations(build_request(query, tables, found), rows=2000)
    assert expected.margin <= Fraction(margin)
    assert expected.margin > 0.9 * Fraction(margin) or expected.margin == int(expected.margin)


def test_too_many_choices_are_refused_before_anything_is_charged():
    tables = {"visits": visits([], limits=Limits(rows=1), columns=COLUMNS | {"ward": Keys(range(150_001))})}
    with pytest.raises(UnsupportedQuery, match="choices; group by fewer"):
        build_request(VISITS.group_by("ward").agg(q=col("age").median()), tables, Offer(epsilon=1))


def test_explain_lists_choices_and_moments():
    tables = {"visits": visits([], limits=Limits(groups=3, rows_per_group=2))}
    query = VISITS.group_by("urgent").agg(**{f"o{n}": one for n, one in enumerate(AGGREGATES)})
    for offer in (None, Offer(epsilon=1), Offer(rho="1/10")):
        text = explain(query, tables, offer)
        for words in (
            "histogram of age over [0, 110], step 1",
            "count of persons",
            "count of distinct note",
            "the quantile 0.5, chosen from 111 grid points",
            "the 2 most frequent of 3 keys, chosen",
            "the root of (the mean square - the squared mean) x n / (n - 1)",
            "the covariance / the root of the product of both variances",
        ):
            assert words in text
    assert "by how many rows it may fall short of the most frequent" in text
    assert "in each of 2 groups" in text
