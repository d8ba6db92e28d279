"""Requests for keys with their counts: what they cover, what is stored, and what is not believed."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.curator.request.counted_keys_request import _packed
from discreet.errors import LedgerTampered, ParameterError
from discreet.mechanisms.keys.counted_keys import CountedKeys, Reach
from discreet.privacy.offer import Offer
from discreet.queries import parse
from discreet.queries.noise.counted_keys import counted_request
from queries.asking.test_counted_keys import OFFER, TABLE

TABLES = {"visits": TABLE}
SQL = "SELECT day, ward, COUNT(*) AS n FROM visits GROUP BY day, ward"
REQUEST = counted_request(parse(SQL, TABLES), TABLES, Offer(**OFFER), confidence=Fraction(95, 100))
DAY = datetime.date(2026, 1, 31)


def test_what_is_stored_is_read_again():
    chosen = [((DAY, 0), 500), ((DAY, None), 40)]
    found = REQUEST.read(_packed(chosen, 2, private=True))
    assert REQUEST.keys_of(found) == {"day": [DAY, DAY], "ward": [0, None]}
    assert found.counts.tolist() == [500, 40]
    assert found.private
    (column,) = REQUEST.columns_for(found)
    assert column.values.tolist() == [500, 40]
    nothing = REQUEST.read(_packed([], 2, private=False))
    assert nothing.values == ()
    assert len(REQUEST.columns_for(nothing)[0].values) == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["counts"].pop(),
        lambda body: body.update(counts=[3, 2]),
        lambda body: body["columns"].pop(),
        lambda body: body["columns"][0].update(keys=["no day", "none"]),
        lambda body: body.pop("private"),
        lambda body: body.update(counts="x"),
    ],
)
def test_other_bytes_are_not_believed(change):
    body = json.loads(_packed([((DAY, 0), 500), ((DAY, None), 40)], 2, private=True))
    change(body)
    with pytest.raises(LedgerTampered):
        REQUEST.read(json.dumps(body).encode())


def test_a_mechanism_for_less_than_a_person_adds_is_refused():
    weak = CountedKeys.best(epsilon=1, delta=1e-6, reach=Reach())
    plan = replace(REQUEST.plan, keys=2, total=2)
    with pytest.raises(ParameterError, match="mechanism"):
        replace(REQUEST, plan=plan, mechanism=weak)
    with pytest.raises(ParameterError, match="versions"):
        replace(REQUEST, versions=(("other", "1"),))


def test_the_identity_is_that_of_what_is_drawn():
    other = "SELECT day, ward, COUNT(DISTINCT who) AS p FROM visits GROUP BY day, ward"
    same = counted_request(parse(other, TABLES), TABLES, Offer(**OFFER), confidence=Fraction(1, 2))
    assert same.identity == REQUEST.identity
    dearer = counted_request(
        parse(SQL, TABLES), TABLES, Offer(epsilon=2, delta=1e-6), confidence=Fraction(1, 2)
    )
    assert dearer.identity != REQUEST.identity


def test_it_is_for_its_tables_only():
    with pytest.raises(ParameterError, match="other tables"):
        REQUEST.check({})
    REQUEST.check(TABLES)
    assert REQUEST.showing(["n"]).columns == REQUEST.columns
    assert np.array_equal(REQUEST.part_of(REQUEST.statistics[0].measure).statistic.step, 1)
