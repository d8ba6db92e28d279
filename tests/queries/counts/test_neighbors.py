"""One person more, with the worst rows in every table: measurements move no further than noise allows."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.curator.request.coarse_noise import CoarseNoise
from discreet.data import col, sensitivity
from discreet.data.prepared import groups, sample
from discreet.data.salt import Salt
from discreet.mechanisms import Laplace
from discreet.queries import Offer, TableRequest, build_request, parse
from discreet.queries.noise.joint_counts import JointCountOutput
from discreet.queries.noise.measurement import StrategyMeasurement
from effort import examples, sizes
from queries.test_neighbors import PATIENT, both, check_statistics
from queries.worlds import worlds

VISITS = TableRequest(table="visits")
QUESTIONS = [
    dp.ranges("visits", "age"),
    dp.ranges("visits", "age", "cost", width={"age": 10, "cost": 5}),
    dp.ranges("visits", "cost", width=2, by="city"),
    dp.ranges("crowd", "balance", width=10, by=["city", "ward"]),
    dp.cdf(VISITS.filter(col("urgent")), "ward"),
    dp.cdf(VISITS.join("cities", on={"city": "name"}), "age", width=7),
    dp.ranges(VISITS.per_person(n=col("cost").count()).derive(k=col("n").clip(0, 9)), "k"),
    dp.marginals("visits", ["city", "ward", "age"], width={"age": 40}),
    dp.marginals("staff", ["city", "age"], ways=1, width={"age": 20}),
    dp.marginals(VISITS.union(VISITS), ["city", "ward", "cost"], ways=3, width={"cost": 13}),
]
TOGETHER = [
    "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE age < 18) AS a, COUNT(*) FILTER (WHERE age >= 18) AS b "
    "FROM visits",
    "SELECT city, COUNT(*) AS n, COUNT(*) FILTER (WHERE cost > 2 OR ward IN (1, 2)) AS a, "
    "SUM(CASE WHEN NOT age > 30 THEN 1 ELSE 0 END) AS b FROM visits GROUP BY city",
    "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE urgent = TRUE) AS a, "
    "COUNT(*) FILTER (WHERE city = 'Oslo') AS b, "
    "COUNT(*) FILTER (WHERE day >= DATE '2026-02-01') AS c FROM crowd",
]
COMPUTED = [
    "SELECT COUNT(*) AS n, COUNT_IF(cost / (age * age) > 0.1) AS a, COUNT_IF(cost / (age * age) <= 0) AS b, "
    "COUNT_IF(age < cost) AS c, COUNT(ward) AS d FROM visits",
    "SELECT city, COUNT_IF(balance * 2 > ward) AS a, COUNT_IF(NOT balance * 2 > 1) AS b, "
    "COUNT_IF(balance BETWEEN -1.5 AND 99.75) AS c, COUNT_IF(city LIKE 'O%' OR urgent) AS d, "
    "COUNT_IF(note < 'x') AS e FROM crowd WHERE urgent IS NOT NULL GROUP BY city",
]
BESIDE = [
    "SELECT COUNT(*) AS n, COUNT_IF(cost * ward > 2) AS a, COUNT_IF(cost * ward > 5) AS b, SUM(age) AS s, "
    "COUNT(DISTINCT patient) AS p FROM visits",
    "SELECT city, COUNT(*) AS n, COUNT_IF(cost * ward > 2) AS a, COUNT_IF(age > 30) AS b, AVG(cost) AS m, "
    "SUM(cost * balance) AS s FROM visits GROUP BY city",
]
FINE = [
    "SELECT city, SUM(cost * balance * age) AS s, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT STDDEV(cost * age) AS v, SUM(cost * balance) AS s FROM crowd",
]
LITTLE = Offer(epsilon="1e-8")
"""So little that sums have more noise than 2^40 steps."""
OFFERS = [Offer(epsilon=1), Offer(epsilon=1, delta="1e-6")]


def request_of(question, tables, offer):
    if isinstance(question, str):
        return build_request(parse(question, tables), tables, offer)
    return question.request(tables, offer, dp.Budget(epsilon=1).epsilon * 19 / 20)


def measured(mechanism, counts):
    """What the noise is added to."""
    if isinstance(mechanism, CoarseNoise):
        return np.array([(int(count) + mechanism.step // 2) // mechanism.step for count in counts], object)
    if not isinstance(mechanism, StrategyMeasurement):
        return np.asarray(counts).astype(object)
    tables = np.asarray(counts).reshape(mechanism.cells, mechanism.strategy.size)
    return np.concatenate([mechanism.strategy.measure(table) for table in tables]).astype(object)


def check(question, offer, pair, salt, seen):
    """Compare the measurements of two worlds; note whether the noise was needed to the last row."""
    request = request_of(question, pair.without, offer)
    assert request.identity == request_of(question, pair.with_person, offer).identity
    statistics = sensitivity(request.plan, pair.without)
    check_statistics(request.plan, statistics, pair, salt)
    first, second = both(request.plan, pair, salt)
    for part, one, other in zip(request.parts, first.values, second.values, strict=True):
        moved = measured(part.mechanism, other) - measured(part.mechanism, one)
        event = part.mechanism.event
        if isinstance(getattr(part.mechanism, "noise", part.mechanism), Laplace):
            size, most = np.abs(moved).sum(), event.sensitivity
        else:
            size, most = (moved**2).sum(), event.squared_sensitivity
        assert size <= most
        seen["reached" if size == most else "less"] += 1


def session(seed, seen):
    salt = Salt(value=f"salt {seed}")
    with (
        mock.patch.object(sample, "fresh_salt", return_value=salt),
        mock.patch.object(groups, "fresh_salt", return_value=salt),
    ):
        pair = worlds(seed, prepare=seed % 3 == 0)
        for place, question in enumerate([*QUESTIONS, *TOGETHER, *COMPUTED, *BESIDE]):
            check(question, OFFERS[(seed + place) % 2], pair, salt, seen)
        for question in FINE:
            check(question, LITTLE, pair, salt, Counter())


@pytest.mark.slow
@pytest.mark.parametrize("many", sizes(1, 2))
def test_one_person_moves_measurements_no_further_than_noise_was_made_for(many):
    seen = Counter()

    @settings(max_examples=many, **PATIENT)
    @given(st.integers(0, 10**6))
    def every(seed):
        session(seed, seen)

    every()
    assert seen["reached"] >= many  # so that less noise would be noticed


@pytest.mark.slow
@settings(max_examples=examples(30), **PATIENT)
@given(st.integers(10**6, 10**9))
def test_one_person_moves_measurements_no_further_in_many_worlds(seed):
    session(seed, Counter())


def test_counts_under_conditions_are_measured_together():
    pair = worlds(4)
    for question in [*TOGETHER, *COMPUTED]:
        request = request_of(question, pair.without, OFFERS[0])
        assert all(isinstance(output, JointCountOutput) for output in request.outputs)
    for question in BESIDE:
        request = request_of(question, pair.without, OFFERS[0])
        counted = [isinstance(output, JointCountOutput) for output in request.outputs]
        assert sum(counted) > 1
        assert not all(counted)
    for question in FINE:
        request = request_of(question, pair.without, LITTLE)
        assert any(isinstance(part.mechanism, CoarseNoise) for part in request.parts)
