"""Questions about a graph: what each offer buys, and what is refused from public facts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from curator.request.statistics.related_tables import graph, survey
from discreet.curator.request.statistics.by_profile import ByBoughtBound, ByProposal, BySmoothSensitivity
from discreet.curator.request.statistics.graph_counts import DegreeCounts, EdgeCount
from discreet.data import EACH_ROW, Table
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.queries.question.graph_statistic import GraphQuestions
from discreet.queries.question.statistic import StatisticQuestion

LEVEL = Fraction(95, 100)
ASK = GraphQuestions("friends")
PURE, BOTH, RHO = Offer(epsilon=1), Offer(epsilon=1, delta=Fraction(1, 100)), Offer(rho=1)


def made(question, offer, table=None):
    return question.request({"friends": table or graph(nodes=9)}, offer, LEVEL).statistic


@pytest.mark.parametrize(
    ("question", "offer", "kind"),
    [
        (ASK.edges(), PURE, EdgeCount),
        (ASK.degrees(most=8), RHO, DegreeCounts),
        (ASK.triangles(), BOTH, ByBoughtBound),
        (ASK.triangles(common=3), PURE, BySmoothSensitivity),
        (ASK.triangles(), RHO, BySmoothSensitivity),
        (ASK.triangles_within(2), BOTH, ByProposal),
    ],
)
def test_an_offer_buys_the_mechanism_that_was_proven_for_it(question, offer, kind):
    statistic = made(question, offer)
    assert isinstance(question, StatisticQuestion)
    assert type(statistic) is kind
    assert statistic.fits(graph(nodes=9))
    assert not statistic.fits(graph(nodes=8))


def test_what_is_impossible_in_any_such_graph_is_refused():
    with pytest.raises(ParameterError, match="no node can have"):
        made(ASK.degrees(most=9), PURE)
    with pytest.raises(ParameterError, match="no triangle"):
        made(ASK.triangles(), BOTH, graph(nodes=2))
    with pytest.raises(ParameterError, match="delta"):
        made(ASK.triangles_within(2), PURE)
    for bad in (0, -1, Fraction(1, 2)):
        with pytest.raises(ParameterError, match="bound"):
            made(ASK.triangles_within(bad), BOTH)
    for question in (
        lambda: ASK.degrees(most=0),
        lambda: ASK.triangles(common=-1),
        lambda: ASK.degrees(most=1.5),
    ):
        with pytest.raises(ParameterError):
            question()


def test_tables_that_are_no_graph_are_refused():
    with pytest.raises(ParameterError, match="no graph"):
        made(ASK.edges(), PURE, survey())
    with pytest.raises(ParameterError, match="no such table"):
        made(ASK.edges(), PURE, Table(graph()._opened, person=EACH_ROW))
    with pytest.raises(ParameterError, match="no such table"):
        ASK.edges().request({}, PURE, LEVEL)
