import json

import pytest

from discreet.data import sensitivity
from discreet.errors import LedgerTampered, ParameterError, UnsupportedQuery
from discreet.noise import replay
from synthesis.related.tiny_clinic import clinic, request, tables


@pytest.fixture(scope="module")
def drawn():
    held = tables(*clinic(80), limit=3)
    one = request(held)
    with replay(1):
        return held, one, one.draw(held)


def test_what_is_drawn_is_read_again_with_intervals(drawn):
    _, one, content = drawn
    keys, (column,), private = one.opened(content)
    assert not private
    assert len({len(listed) for listed in keys.values()}) == 1
    assert len(keys["table"]) == len(column.values)
    assert (column.lower < column.values).all()
    assert {"age", "sex", "visits_per_person", "visits: ward", "visits: cost"} <= set(keys["table"])
    assert sum(one.startswith("visits: ") and "," in one for one in set(keys["table"])) == 2


def test_nothing_else_is_read(drawn):
    _, one, content = drawn
    held = json.loads(content)
    first = held["drawn"]["events"][0]
    wrong = [
        {"persons": held["drawn"]["persons"]},
        {**held["drawn"], "events": held["drawn"]["events"][1:]},
        {**held["drawn"], "events": [{**first, "columns": [0]}, *held["drawn"]["events"][1:]]},
        {**held["drawn"], "events": [{**first, "counts": [1]}, *held["drawn"]["events"][1:]]},
        {**held["drawn"], "events": [*held["drawn"]["events"][:-1], {**first, "columns": [0, 1]}]},
        [],
    ]
    for other in wrong:
        with pytest.raises(LedgerTampered):
            one.opened(json.dumps({"drawn": other, "private": True}).encode())


def test_it_covers_one_row_of_persons_and_the_limit_of_events(drawn):
    held, one, _ = drawn
    found = [sensitivity(plan, held) for plan in one.plans]
    assert one.mechanism.covers_all(found)
    assert not one.mechanism.covers_all(found[:1])
    assert not one.mechanism.covers_all(found[::-1])  # events where persons should be
    one.check(tables(*clinic(5), limit=4))  # the plan says how many events of a person count
    for wrong in ({}, tables(*clinic(5), limit=2), tables(*clinic(5), limit=3, version="2")):
        with pytest.raises((ParameterError, UnsupportedQuery)):
            one.check(wrong)


def test_expectations_and_words(drawn):
    _, one, _ = drawn
    names = [expected.name for expected in one.expectations(1000)]
    assert names == [
        "patients: columns",
        "patients: chosen tables",
        "visits: columns",
        "visits: chosen tables",
    ]
    assert "3 rows of a person" in one.remark
    assert one.identity != request(drawn[0], rho=2).identity
