"""A request for a statistic: its identity, what it was made for, and what is stored."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from unittest import mock

import pytest

from curator.request.statistics.related_tables import KEYS, graph, survey
from discreet.curator.budget.charge_words import asked_in_words
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.statistics import graph_counts
from discreet.curator.request.statistics.base import offer_object, offered_epsilon, offered_with_delta
from discreet.curator.request.statistics.by_profile import ByProposal
from discreet.curator.request.statistics.fixed_counts import KeyAxes, RowCount
from discreet.curator.request.statistics.graph_counts import EdgeCount
from discreet.curator.request.statistics.known import is_known
from discreet.curator.request.statistics.profiled import TriangleStatistic
from discreet.curator.table_records import declare
from discreet.data import EACH_ROW, Table
from discreet.errors import EngineFailed, LedgerTampered, ParameterError
from discreet.noise import replay
from discreet.privacy.events import Pure
from discreet.privacy.offer import Offer

ONE = Offer(epsilon=1)
EDGES = EdgeCount(nodes=5, offer=ONE)
REQUEST = StatisticRequest(table="friends", version="1", statistic=EDGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cheaper(EdgeCount):
    """A statistic that says that it costs nothing."""

    @property
    def event(self):
        return Pure(epsilon=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalmTriangles(TriangleStatistic):
    """A profile that nobody has proven."""


def test_only_statistics_that_were_proven_are_requests():
    offer = Offer(epsilon=1, delta=Fraction(1, 100))
    proposed = ByProposal(statistic=CalmTriangles(nodes=5), bound=1, offer=offer)
    assert not is_known(proposed)
    for statistic in (Cheaper(nodes=5, offer=ONE), proposed, None, "edges"):
        with pytest.raises(ParameterError, match="not one that was proven"):
            StatisticRequest(table="friends", version="1", statistic=statistic)
    with pytest.raises(ParameterError, match="confidence"):
        StatisticRequest(table="friends", version="1", statistic=EDGES, confidence=Fraction(1))


def test_the_identity_is_the_question_the_offer_and_the_data():
    same = StatisticRequest(
        table="friends", version="1", statistic=EdgeCount(nodes=5, offer=Offer(epsilon="1"))
    )
    assert same.identity == REQUEST.identity
    others = [
        replace(REQUEST, version="2"),
        replace(REQUEST, table="foes"),
        replace(REQUEST, confidence=Fraction(9, 10)),
        replace(REQUEST, statistic=EdgeCount(nodes=6, offer=ONE)),
        replace(REQUEST, statistic=EdgeCount(nodes=5, offer=Offer(epsilon=2))),
        replace(REQUEST, statistic=graph_counts.DegreeCounts(nodes=5, most=2, offer=ONE)),
        replace(REQUEST, statistic=graph_counts.DegreeCounts(nodes=5, most=3, offer=ONE)),
    ]
    assert len({one.identity for one in (REQUEST, *others)}) == 1 + len(others)
    declared = [declare({"friends": graph(nodes=nodes)}) for nodes in (5, 6)]
    assert len({REQUEST.digest(b"secret", one) for one in declared}) == 2


def test_the_identity_is_stable():
    """As an earlier version wrote it: the same question finds its stored answer."""
    assert json.loads(REQUEST.identity) == {
        "confidence": "19/20",
        "event": {
            "event": "DiscreteLaplace",
            "grid": "1",
            "neighbors": "add-remove row",
            "scale": "1",
            "sensitivity": "1",
            "size": 1,
        },
        "parameters": {"nodes": 5, "offer": {"epsilon": "1"}},
        "statistic": "edges",
        "versions": [["friends", "1"]],
    }


def test_what_the_ledger_records_is_read_as_words_and_holds_no_choice_of_the_analyst():
    count = RowCount(rows=3, axes=KeyAxes((("color", KEYS),)), chosen=("green",), offer=ONE)
    request = StatisticRequest(table="survey", version="7", statistic=count)
    assert (
        asked_in_words({"plan": request.outline, "versions": {"survey": "7"}}) == "survey (version 7): rows"
    )
    assert "green" not in str(request.outline)


def test_tables_of_other_declarations_are_refused():
    REQUEST.check({"friends": graph()})
    for tables in (
        {},
        {"foes": graph()},
        {"friends": graph(version="2")},
        {"friends": graph(nodes=6)},
        {"friends": survey()},
        {"friends": Table(graph()._opened, person=EACH_ROW)},
    ):
        with pytest.raises(ParameterError, match="request"):
            REQUEST.check(tables)


def test_what_is_drawn_is_read_again_and_nothing_else():
    tables = {"friends": graph([(0, 1), (1, 2)])}
    content = REQUEST.draw(tables)
    keys, (column,), private = REQUEST.opened(content)
    assert (keys, private) == ({}, True)
    assert column.values.tolist() == json.loads(content)["drawn"]
    with replay(3):
        assert REQUEST.opened(REQUEST.draw(tables))[2] is False
    for bad in (
        b"{}",
        b"[1]",
        b"1",
        b"no json",
        b'{"drawn":[1.5],"private":true}',
        b'{"drawn":[1]}',
        b'{"drawn":3,"private":true}',
    ):
        with pytest.raises(LedgerTampered):
            REQUEST.opened(bad)


def test_no_answer_that_was_replayed_says_so():
    """None carries no mark by itself."""
    offer = Offer(epsilon=1, delta=Fraction(1, 10**9))
    proposed = ByProposal(statistic=TriangleStatistic(nodes=5), bound=1, offer=offer)
    request = replace(REQUEST, statistic=proposed)
    with replay(1):
        content = request.draw({"friends": graph([(0, 1), (0, 2), (1, 3), (2, 3)])})
    assert json.loads(content) == {"drawn": [None], "private": False}


@pytest.mark.parametrize(
    "fault", [ValueError("secret 17"), MemoryError("secret 17"), AssertionError("secret 17")]
)
def test_no_error_of_a_computation_leaves(fault):
    with (
        mock.patch.object(graph_counts, "graph_of", side_effect=fault),
        pytest.raises(EngineFailed) as caught,
    ):
        REQUEST.draw({"friends": graph()})
    assert "17" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_offers_are_written_exactly_and_others_refused():
    both = Offer(epsilon=Fraction(1, 3), delta=Fraction(1, 10**6))
    assert offer_object(both) == {"epsilon": "1/3", "delta": "1/1000000"}
    assert offered_with_delta(both, "it") == (Fraction(1, 3), Fraction(1, 10**6))
    assert offered_epsilon(ONE, "it") == 1
    for offer in (both, Offer(rho=1)):
        with pytest.raises(ParameterError, match="epsilon alone"):
            offered_epsilon(offer, "it")
    for offer in (ONE, Offer(rho=1), Offer.concentrated(1, Fraction(1, 100))):
        with pytest.raises(ParameterError, match="lacks epsilon or delta"):
            offered_with_delta(offer, "it")
