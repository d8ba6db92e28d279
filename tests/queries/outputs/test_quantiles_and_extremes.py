"""Quantiles, extremes and most frequent keys: intervals cover, promises hold, and quantiles are in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.curator.request.histogram_rules import reaches
from discreet.curator.request.request import Draw
from discreet.data import Bounds, Limits, col
from discreet.queries import Offer, expectations
from effort import examples
from queries.releases import OFFERS
from queries.spread_data import X, allowed_misses, answers, exact_of, request_for

ROWS = Limits(rows=2)
GROUPS = Limits(groups=30, rows_per_group=1)
QUANTILES = {"q1": col("age").quantile("1/4"), "q2": col("age").median(), "q3": col("age").quantile(0.9)}
ENDS = {"low": col("age").min(), "high": col("age").max()}
KEYS = {"mode": col("city").mode(), "top": col("city").top(3)}
SHARES = {"q1": Fraction(1, 4), "q2": Fraction(1, 2), "q3": Fraction(9, 10)}


def data(ages, cities=()):
    return {"age": list(ages), "city": [*cities]}


def groups():
    random = np.random.default_rng(8)
    return {
        "spread": data(random.integers(-20, 81, 400).tolist()),
        "one heavy value": data([30] * 350 + [31] * 50 + [29] * 100),
        "at the lower end": data([-20] * 300 + [80] * 3),
        "at the upper end": data([80] * 300 + [-20] * 3),
        "two camps": data([-20] * 200 + [80] * 200),
        "a handful": data([80, 80, 79]),
        "one": data([5]),
    }


GROUPED = groups()


def quantile(ages, share):
    """The least c with #{x <= c} >= q n, on the grid."""
    return next(c for c in range(-20, 81) if sum(x <= c for x in ages) >= share * len(ages))


def truth(name, ages):
    if name in ENDS:
        return {"low": min, "high": max}[name](ages)
    return quantile(ages, SHARES[name])


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("limits", [ROWS, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_intervals_cover_in_five_thousand_releases(offer, limits):
    """Exact histograms once, the shipped choices and intervals for each group: 7 x 120 groups, 5 outputs."""
    times = 120
    request = request_for(QUANTILES | ENDS, offer, cells=times * len(GROUPED), limits=limits)
    assert len(request.parts) == 1
    found = answers(request, [one for one in GROUPED.values() for _ in range(times)])
    for number, (kind, one) in enumerate(GROUPED.items()):
        here = slice(number * times, (number + 1) * times)
        for name, column in found.items():
            true = truth(name, one["age"])
            missed = (column.lower[here] > true) | (true > column.upper[here])
            assert int(missed.sum()) <= allowed_misses(times, 0.05), (kind, name)
            assert (column.lower <= column.values).all()
            assert (column.values <= column.upper).all()
    for lower, higher in (("q1", "q2"), ("q2", "q3")):
        for part in ("values", "lower", "upper"):
            assert (getattr(found[lower], part) <= getattr(found[higher], part)).all()
    assert (found["low"].lower == -20).all()
    assert (found["high"].upper == 80).all()


@pytest.mark.few(0, slow=2)
@pytest.mark.statistical
@pytest.mark.parametrize("confidence", ["0.6", "0.95"])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_intervals_cover_in_many_releases(offer, confidence):
    times = 1500
    for one in GROUPED.values():
        request = request_for(QUANTILES | ENDS, offer, cells=times, limits=ROWS, confidence=confidence)
        for name, column in answers(request, [one] * times).items():
            true = truth(name, one["age"])
            missed = (column.lower > true) | (true > column.upper)
            assert int(missed.sum()) <= allowed_misses(times, 1 - float(Fraction(confidence)))


def probabilities(scores, rate):
    weights = np.exp(float(rate) * (scores - scores.max()))
    return weights / weights.sum()


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(0, 6), max_size=30),
    st.fractions(min_value="1/20", max_value="19/20", max_denominator=20),
    st.sampled_from([Fraction(1, 2), Fraction(2), Fraction(12)]),
    st.sampled_from([Fraction(1, 2), Fraction(95, 100)]),
)
def test_intervals_cover_by_the_law(values, share, epsilon, confidence):
    """The exact probability that an interval misses, by enumeration, for whatever value it lies around."""
    request = request_for(
        {"q": col("age").quantile(share)},
        Offer(epsilon=epsilon),
        cells=1,
        limits=Limits(rows=1),
        confidence=confidence,
        columns={"age": Bounds(0, 6)},
    )
    counts = np.array([[values.count(k) for k in range(7)]])
    if not values:
        return
    true = next(c for c in range(7) if sum(x <= c for x in values) >= share * len(values))
    reach = request.parts[0].mechanism.choices[1]
    for center in range(7):
        (scores,) = reach.rule.scores(counts, np.array([center]))
        chances = probabilities(scores, reach.mechanism.rate)
        missed = reaches(7)[: len(scores)] < abs(true - center)
        assert chances[missed].sum() <= 1 - confidence


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.sampled_from([Fraction(1, 2), Fraction(2), Fraction(12)]),
)
def test_extremes_are_on_their_sides_by_the_law(values, epsilon):
    ends = {"low": col("age").min(), "high": col("age").max()}
    request = request_for(
        ends, Offer(epsilon=epsilon), cells=1, limits=Limits(rows=1), columns={"age": Bounds(0, 6)}
    )
    counts = np.array([[values.count(k) for k in range(7)]])
    low, high = (
        probabilities(choice.rule.scores(counts)[0], choice.mechanism.rate)
        for choice in request.parts[0].mechanism.choices
    )
    assert low[: min(values)].sum() <= 0.05
    assert high[max(values) + 1 :].sum() <= 0.05


def covered(request, choices, times=300):
    """How often the median of a group is covered by given choices."""
    part = replace(request.parts[0], mechanism=replace(request.parts[0].mechanism, choices=choices))
    one = GROUPED["spread"]
    integers = np.array(exact_of(part.measure, one) * times)
    draw = Draw(part=part, steps=part.mechanism.release(integers))
    column = request.outputs[0].finish([draw], request.confidence)
    true = quantile(one["age"], Fraction(1, 2))
    return ((column.lower <= true) & (true <= column.upper)).mean(), column


def test_intervals_hold_what_a_coarser_grid_rounded_away(tmp_path):
    """With 4,385 grid points the choice is among every second, so that 19 is read as 20, and 7 as 8."""
    ages = [7] * 150 + [11] * 150 + [19] * 300
    table = dp.Table(
        pyarrow.table({"who": range(600), "x": ages}),
        person="who",
        limits=Limits(rows=1),
        columns={"x": Bounds(-2192, 2192)},
    )
    curator = dp.Curator({"t": table}, budget=dp.Budget(epsilon=100), ledger=tmp_path / "ledger")
    asked = "SELECT MIN(x) AS least, QUANTILE(x, 0.4) AS q, MEDIAN(x) AS m, MAX(x) AS largest FROM t"
    found = curator.ask(asked, epsilon=60, confidence="0.999999").columns()
    for name, true in {"least": 7, "q": 11, "m": 11, "largest": 19}.items():
        assert found[f"{name}_lower"][0] <= true <= found[f"{name}_upper"][0]
        assert found[f"{name}_lower"][0] <= found[name][0] <= found[f"{name}_upper"][0]
    assert (found["least_lower"][0], found["largest_upper"][0]) == (-2192, 2192)
    curator.close()


def unmoved(request):
    """The choices of a quantile, of which the reach is to go beyond the rank by nothing."""
    value, reach = request.parts[0].mechanism.choices
    return value, replace(reach, rule=replace(reach.rule, shift=0))


def test_a_reach_that_is_not_far_enough_promises_nothing():
    """A request made with too small a shift gets the whole range, not an interval that fails to cover."""
    request = request_for({"q": QUANTILES["q2"]}, Offer(epsilon=1), cells=300, limits=ROWS)
    right, column = covered(request, request.parts[0].mechanism.choices)
    assert right > 0.94
    assert (column.upper - column.lower < 100).any()
    right, column = covered(request, unmoved(request))
    assert right == 1
    assert (column.lower == -20).all()
    assert (column.upper == 80).all()


def test_a_reach_to_the_rank_itself_would_not_cover(monkeypatch):
    """The control: taken at its word, a reach that does not go beyond the rank covers too rarely."""
    request = request_for({"q": QUANTILES["q2"]}, Offer(epsilon=1), cells=300, limits=ROWS)
    monkeypatch.setattr("discreet.queries.outputs.quantiles_and_extremes.shortfall", lambda *_: 0)
    assert covered(request, unmoved(request))[0] < 0.9


@pytest.mark.parametrize("offer", [Offer(epsilon=1), Offer(rho="1/50")])
@pytest.mark.parametrize(("highest", "part"), [(100, 0.55), (600, 0.46), (4095, 0.4)])
def test_a_reach_aims_at_half_the_ranks_that_separate_ends_need(offer, highest, part):
    """Two ends, each chosen from all grid points with a third of the budget, at half the failure rate."""
    columns = {"age": Bounds(0, highest)}
    request = request_for({"q": col("age").median()}, offer, cells=1, limits=ROWS, columns=columns)
    value, reach = request.parts[0].mechanism.choices
    with_half = value.mechanism.error.quantile((1 + request.confidence) / 2, candidates=highest + 1)
    separate = with_half * (3 / 2 if offer.rho is None else (3 / 2) ** 0.5)
    slower = 1 if offer.rho is None else (3 / 2) ** 0.5  # a root of the budget counts
    assert reach.rule.shift <= part * slower * separate


@pytest.mark.slow
@pytest.mark.statistical
def test_intervals_are_no_wider_than_those_of_a_distribution_function(tmp_path):
    days = np.random.default_rng(3).gamma(2, 3, 3000)
    table = dp.Table(
        pyarrow.table({"who": range(3000), "days": days}),
        person="who",
        limits=Limits(rows=1),
        columns={"days": Bounds(0, 60, step="1/10")},
    )
    curator = dp.Curator({"t": table}, budget=dp.Budget(epsilon=100), ledger=tmp_path / "ledger")
    own, other = [], []
    for number in range(7):
        epsilon = Fraction(1, 3) + Fraction(number, 10**9)
        found = curator.ask("SELECT MEDIAN(days) AS q FROM t", epsilon=epsilon).columns()
        own.append(found["q_upper"][0] - found["q_lower"][0])
        curve = curator.ask(dp.cdf("t", "days"), epsilon=epsilon).quantile("1/2")
        other.append(curve.upper - curve.lower)
    assert np.median(own) <= np.median(other)
    curator.close()


@pytest.mark.few(2)
@pytest.mark.parametrize("limits", [ROWS, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_keys_fall_short_by_no_more_than_is_offered(offer, limits):
    times = 400
    cities = ["a"] * 60 + ["b"] * 58 + ["c"] * 40 + ["d"] * 39 + ["e"]
    request = request_for(KEYS, offer, cells=times, limits=limits)
    one = {"city": cities, "age": [0] * len(cities)}
    found, counts = answers(request, [one] * times), Counter(cities)
    best = sorted(counts.values(), reverse=True)
    margins = {each.name: each.margin for each in expectations(request)}
    for name, column in found.items():
        assert column.lower is None
        assert column.upper is None
        assert f"at most {margins[name]:.0f} rows short" in column.offers
        chosen = [[value] if name == "mode" else value for value in column.values]
        assert all(len(set(keys)) == len(keys) == (1 if name == "mode" else 3) for keys in chosen)
        short = [max(most - counts[key] for most, key in zip(best, keys, strict=False)) for keys in chosen]
        assert sum(each > margins[name] for each in short) <= allowed_misses(times, 0.05)


def test_with_plenty_of_budget_they_are_what_they_are_called():
    ages = [*range(-20, 81)] * 50
    aggregates = QUANTILES | ENDS | KEYS
    request = request_for(aggregates, Offer(epsilon=400), cells=1, limits=Limits(rows=1))
    cities = ["c"] * 3000 + ["a"] * 1500 + ["e"] * 550
    found = answers(request, [{"age": ages, "city": cities}])
    for name, share in SHARES.items():
        assert abs(found[name].values[0] - quantile(ages, share)) <= 1
    assert abs(found["low"].values[0] + 20) <= 1
    assert abs(found["high"].values[0] - 80) <= 1
    assert found["mode"].values.tolist() == ["c"]
    assert found["top"].values.tolist() == [["c", "a", "e"]]


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_margins_hold_for_values_that_are_spread_evenly(offer):
    """Half the width of nearly every interval, if the values are as they are assumed to be."""
    request = request_for(QUANTILES | ENDS, offer, cells=150, limits=ROWS)
    ages = [*range(-20, 81)] * 20
    margins = {one.name: one for one in expectations(request, rows=len(ages))}
    found = answers(request, [data(ages)] * 150)
    for name in SHARES:
        half = (found[name].upper - found[name].lower) / 2
        assert (half <= margins[name].margin).mean() > 0.9
        assert margins[name].assumes.endswith("spread evenly over the bounds")
    assert (found["low"].values + 20 <= margins["low"].margin).mean() > 0.9
    assert (80 - found["high"].values <= margins["high"].margin).mean() > 0.9
    assert "inside the least" in margins["low"].means


def test_the_same_question_is_asked_once():
    request = request_for(
        {
            "a": col("age").median(),
            "b": col("age").quantile("1/2"),
            "c": col("age").min(),
            "d": col("age").quantile(0),
        },
        Offer(epsilon=1),
        cells=1,
        limits=ROWS,
    )
    assert len(request.parts[0].mechanism.choices) == 3
    columns = answers(request, [GROUPED["spread"]])
    assert columns["a"].values.tolist() == columns["b"].values.tolist()
    assert columns["c"].values.tolist() == columns["d"].values.tolist()
    assert X.upper == 80
