"""Ranges and marginals over HTTP: the numbers of a curator, and every count of them at no cost."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet import errors
from discreet.server.received_counts import sent_question
from server.service import code_of

AGES = dp.ranges("visits", "age", width=10, by="city")
TABLES = dp.marginals("visits", ["city", "age"], width=10)
COUNTS = {
    "ranges": (AGES, [{"age": (20, 40)}, {"city": "Taipei", "age": (None, 50)}, {}]),
    "cdf": (dp.cdf("visits", "age", width="5"), [{"age": (0, 50)}]),
    "marginals": (TABLES, [{"city": ["Taipei", "Hamilton"]}, {"city": "Taipei", "age": (20, 40)}]),
}


@pytest.fixture
def pair(service):
    """The same curator here, and behind the server."""
    curator = dp.open(service.file)
    with dp.connect(service.url, key=service.key("tables")) as remote:
        yield curator, remote
    curator.close()


@pytest.mark.parametrize("kind", COUNTS)
def test_counts_are_those_of_a_curator_and_free(service, pair, kind):
    (local, remote), (question, asked) = pair, COUNTS[kind]
    found = remote.ask(question, epsilon="0.5")
    before = len(service.charges())
    same = local.ask(question, epsilon="0.5", analyst="tables")
    assert same.stored
    assert found.columns() == same.columns()
    for conditions in asked:
        here, there = same.count(**conditions), found.count(**conditions)
        assert (there.value, there.standard_error) == (here.value, here.standard_error)
        assert there.interval() == here.interval()
        assert str(there) == str(here)
    assert remote.preview(question, epsilon="0.5") == local.preview(question, epsilon="0.5", analyst="tables")
    assert len(service.charges()) == before


def test_a_range_without_its_name_is_that_of_the_one_column(pair):
    local, remote = pair
    found, same = (one.ask(dp.ranges("visits", "age", width=10), epsilon="0.25") for one in pair[::-1])
    assert [one.value for one in found.counts([0, 20, 40, None])] == [
        one.value for one in same.counts([0, 20, 40, None])
    ]
    with pytest.raises(errors.ParameterError, match="inside a cell"):
        found.count(0, 15)
    with pytest.raises(errors.ParameterError, match="cannot be sent"):
        found.count(age=object())
    del local, remote


def test_what_was_not_paid_for_is_not_read(service):
    key, before = service.key("reader of cells"), len(service.charges())
    body = {"question": sent_question(AGES), "epsilon": "0.4321", "counts": [{}]}
    found = service.send("POST", "/v1/counts", key, json=body)
    assert (found.status_code, code_of(found)) == (422, "refused"), found.text
    assert len(service.charges()) == before
    # the control: what was paid for is
    service.ask(key, sent_question(AGES), epsilon="0.4321")
    assert code_of(service.send("POST", "/v1/counts", key, json=body)) == ""


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "median"},
        {"columns": []},
        {"columns": ["note"]},
        {"columns": ["age", "age"]},
        {"table": "nowhere"},
        {"width": "0"},
        {"width": "1e-50"},
        {"by": ["note"]},
        {"sets": [["age"]]},
        {"kind": "marginals", "by": [], "sets": [[]]},
        {"kind": "marginals"},
        {"kind": "cdf", "columns": ["age", "cost"], "by": []},
        {"seed": 1},
        {"columns": ["cost", "age"], "width": {"cost": "0.01", "age": 1}},
    ],
    ids=str,
)
def test_tables_that_are_none_are_refused_before_any_charge(service, more):
    key, before = service.key("tables that are none"), len(service.charges())
    found = service.ask(key, {**sent_question(AGES), **more}, epsilon=1)
    assert 400 <= found.status_code < 500, found.text
    assert len(service.charges()) == before


def test_chosen_rows_are_not_sent(pair):
    local, remote = pair
    chosen = local.table("visits").filter(dp.col("age") < 40)
    with pytest.raises(errors.ParameterError, match="a whole table"):
        remote.ask(dp.ranges(chosen, "age"), epsilon=1)
