"""Which questions are answered by the counts that pass a threshold, and for what a person moves."""

from __future__ import annotations

from fractions import Fraction

import pyarrow
import pytest

from discreet.data import Bounds, Keys, Limits, Table
from discreet.mechanisms.keys.counted_keys import Reach
from discreet.privacy.offer import Offer
from discreet.queries import parse
from discreet.queries.noise.counted_keys import counted_request

OFFER = Offer(epsilon=1, delta=1e-6)


def tables_for(limits):
    data = pyarrow.table({"who": [1], "town": ["x"], "ward": [0], "cost": [1]})
    columns = {"ward": Keys([0, 1, None]), "cost": Bounds(0, 10)}
    return {"t": Table(data, person="who", limits=limits, columns=columns)}


def made(outputs, limits, *, offer=OFFER, keys="town", chosen=False):
    tables = tables_for(limits)
    query = parse(f"SELECT {keys}, {outputs} FROM t GROUP BY {keys}", tables)  # noqa: S608
    return counted_request(query, tables, offer, confidence=Fraction(9, 10), chosen=chosen)


@pytest.mark.parametrize(
    ("outputs", "limits", "reach"),
    [
        ("COUNT(*) AS n", Limits(rows=1), Reach()),
        ("COUNT(DISTINCT who) AS n", Limits(rows=5), Reach(keys=5)),
        ("COUNT(*) AS n, COUNT(DISTINCT who) AS p", Limits(groups=3, rows_per_group=1), Reach(keys=3)),
        ("COUNT(*) AS n", Limits(rows=2), Reach(keys=2, rows=2, total=2)),
        ("COUNT(*) AS n", Limits(groups=1, rows_per_group=2), Reach(keys=1, rows=2)),
        ("COUNT(town) AS n", Limits(groups=2, rows_per_group=1), Reach(keys=2)),
    ],
)
def test_counts_alone_are_counted_for_what_a_person_moves(outputs, limits, reach):
    request = made(outputs, limits)
    assert request.mechanism.reach == reach
    assert (request.plan.keys, request.plan.rows, request.plan.total) == (reach.keys, reach.rows, reach.total)
    assert request.mechanism.offer.epsilon == 1
    assert request.confidence == Fraction(9, 10)
    request.check(tables_for(limits))


@pytest.mark.parametrize(
    ("outputs", "limits"),
    [
        ("COUNT(*) AS n, SUM(cost) AS s", Limits(rows=1)),
        ("COUNT(ward) AS n", Limits(rows=1)),
        ("COUNT(DISTINCT cost) AS n", Limits(rows=1)),
        ("COUNT(*) FILTER (WHERE cost > 3) AS n", Limits(rows=1)),
        ("COUNT(*) AS n, COUNT(DISTINCT who) AS p", Limits(rows=2)),
        ("COUNT(*) AS n", Limits(groups=1, rows_per_group=100)),
    ],
)
def test_everything_else_is_measured_after_a_choice(outputs, limits):
    assert made(outputs, limits) is None


def test_without_delta_or_with_noise_out_of_range_there_is_no_such_request():
    assert made("COUNT(*) AS n", Limits(rows=1), offer=Offer(epsilon=1)) is None
    assert made("COUNT(*) AS n", Limits(rows=1), offer=Offer(epsilon=1000, delta=1e-6)) is None


def test_declared_keys_are_listed_and_others_are_not():
    request = made("COUNT(*) AS n", Limits(rows=1), keys="town, ward")
    assert request.plan.columns == ("town", "ward")
    assert [key.column for key in request.plan.listed] == ["ward"]
    chosen = made("COUNT(*) AS n", Limits(rows=1), keys="ward", chosen=True)
    assert [key.column for key in chosen.plan.listed] == ["ward"]
