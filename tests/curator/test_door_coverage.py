"""Intervals cover the bounded statistic as often as they say; for one additive noise, as its law computes.

The exact statistic is computed once; then the shipped noise and interval code run for each release.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import effort
from curator.doors import COLUMNS, usual_visits, visits
from discreet.curator import Draw
from discreet.curator.release.release import finish, pack, unpack
from discreet.data import CountNonNull, Keys, Limits, Sum, compute, fresh_salt
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.events import DiscreteLaplace
from discreet.queries import MeanOutput, Offer, build_request, parse
from significance import FALSE_ALARM

pytestmark = pytest.mark.statistical

HOUSEHOLDS = visits(
    limits=Limits(groups=30, rows_per_group=1), columns={**COLUMNS, "household": Keys(range(40))}
)
TABLES = {"visits": usual_visits(), "homes": HOUSEHOLDS}
OFFERS = {
    "pure": Offer(epsilon=1),
    "approximate": Offer(epsilon=1, delta="1e-6"),
    "concentrated": Offer(rho="1/50"),
}
QUESTIONS = {
    "count": "SELECT COUNT(*) AS x FROM visits",
    "sum": "SELECT SUM(cost) AS x FROM visits",
    "mean": "SELECT AVG(age) AS x FROM visits",
    "sum beside a mean": "SELECT SUM(age) AS x, AVG(age) AS m FROM visits",
    "counts by city": "SELECT city, COUNT(*) AS x FROM visits GROUP BY city",
    "counts by household": "SELECT household, COUNT(*) AS x FROM homes GROUP BY household",
}


def made(question, offer):
    return build_request(parse(QUESTIONS[question], TABLES), TABLES, OFFERS[offer])


def bounded_statistic(output, exact):
    """The statistic that an interval is about, as exact fractions, from exact integers."""
    if hasattr(output, "measure"):
        return [Fraction(int(n)) for n in exact[output.measure]]
    step, center = output.total.bounds.step, output.total.center
    totals = [step * int(n) for n in exact[output.total]]
    if output.count is None:
        return totals
    counts = [int(n) for n in exact[output.count]]
    if isinstance(output, MeanOutput):
        return [center + total / n for total, n in zip(totals, counts, strict=True)]
    return [total + center * n for total, n in zip(totals, counts, strict=True)]


def releases(request, exact, count):
    """Draw and finish again and again, through the form in which answers are stored."""
    for _ in range(count):
        draws = [
            Draw(part=part, steps=np.asarray(part.mechanism.release(exact[part.measure])))
            for part in request.parts
        ]
        yield finish(request, unpack(request, pack(draws)), {"private": True})


def covered(request, exact, count):
    """How many intervals of the first output cover, for each group."""
    (output, *_) = request.outputs
    truth = bounded_statistic(output, exact)
    hits = np.zeros(len(truth), np.int64)
    for release in releases(request, exact, count):
        column = release.outputs[0]
        for place, value in enumerate(truth):
            low, high = (Fraction(float(end[place])) for end in (column.lower, column.upper))
            hits[place] += low <= value <= high
    return hits


def coverage_of_the_law(request):
    """The probability that a single noise stays within its margin, by the law of the event; else None."""
    (output, *_) = request.outputs
    if len(output.measures) > 1:
        return None
    mechanism = request.part_of(output.measures[0]).mechanism
    margin, event = int(mechanism.error.quantile(request.confidence)), mechanism.event
    if isinstance(event, DiscreteLaplace):
        ratio = math.exp(-1 / event.scale)
        return 1 - 2 * ratio ** (margin + 1) / (1 + ratio)
    sigma = math.sqrt(event.variance)
    if sigma > 1000:  # then sums and integrals of the normal law differ by less than a millionth
        return 1 - 2 * stats.norm.sf((margin + 0.5) / sigma)
    steps = np.arange(-int(40 * sigma), int(40 * sigma) + 1)
    weights = np.exp(-(steps**2) / (2 * sigma**2))
    return weights[np.abs(steps) <= margin].sum() / weights.sum()


def check_coverage(question, offer, count):
    request = made(question, offer)
    exact = compute(request.plan, TABLES, salt=fresh_salt())
    hits, law = covered(request, exact, count), coverage_of_the_law(request)
    empty = [value == 0 for value in bounded_statistic(request.outputs[0], exact)]
    alarm = FALSE_ALARM / (2 * len(hits))
    for hit, nobody in zip(map(int, hits), empty, strict=True):
        assert stats.binomtest(hit, count, 0.95, alternative="less").pvalue > alarm
        if law is not None:
            assert law >= 0.95
            # No count is negative: raised to 0, an interval below 0 still covers nobody.
            exactly = (1 + law) / 2 if nobody and "count" in question else law
            assert stats.binomtest(hit, count, exactly).pvalue > alarm
    return hits / count, law


@pytest.mark.few(3, slow=5)
@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_intervals_cover_as_often_as_they_say(question, offer):
    print(question, offer, *check_coverage(question, offer, 1000))


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_intervals_cover_as_often_as_they_say_in_thousands_of_releases(question, offer):
    print(question, offer, *check_coverage(question, offer, max(2_500, effort.releases(10_000))))


@pytest.mark.slow
def test_margins_that_are_too_small_are_noticed():
    """The control: intervals for 90% that claim 95%."""
    request = build_request(
        parse(QUESTIONS["count"], TABLES), TABLES, Offer(epsilon=1), confidence=Fraction(9, 10)
    )
    exact = compute(request.plan, TABLES, salt=fresh_salt())
    hits = covered(request, exact, 5000)
    assert stats.binomtest(int(hits[0]), 5000, 0.95, alternative="less").pvalue < FALSE_ALARM


def test_the_questions_are_what_they_say():
    assert {type(measure) for measure in made("mean", "pure").plan.measures} == {Sum, CountNonNull}
    assert isinstance(made("count", "concentrated").parts[0].mechanism, Gaussian)
    assert isinstance(made("counts by household", "approximate").parts[0].mechanism, Gaussian)
    assert isinstance(made("counts by household", "pure").parts[0].mechanism, Laplace)
