"""Statistics on their terms: what is explained, and which terms mean nothing there."""

from __future__ import annotations

import pytest

from curator.request.statistics.related_tables import graph
from discreet.data import AUTO, Limits
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.neighbors import ADD_REMOVE_ROW
from discreet.queries.asking.settle import settle
from discreet.queries.asking.statistic import AskedStatistic, refuse_other_relations
from discreet.queries.question.graph_statistic import GraphQuestions
from discreet.queries.question.terms import Terms

ASK = GraphQuestions("friends")
TABLES = {"friends": graph([(0, 1)])}


def test_an_explanation_says_what_is_protected_and_reads_nothing():
    bare = settle(ASK.edges(), TABLES, Terms.stated()).explain(sql=False)
    assert "protected: one edge, which is one row (adding or removing one row)" in bare
    assert "event" not in bare
    priced = settle(ASK.edges(), TABLES, Terms.stated(epsilon=1)).explain(sql=True)
    assert "error: ± 3 at 95%" in priced
    assert "DiscreteLaplace" in priced


@pytest.mark.parametrize(
    "terms",
    [
        {"error": {"edges": 3}},
        {"epsilon": 1, "split": {"edges": 1}},
        {"epsilon": 1, "limits": Limits(rows=1)},
        {"epsilon": 1, "bounds": AUTO},
        {"epsilon": 1, "keys": "chosen"},
        {"epsilon": 1, "key_share": 0.5},
        {"epsilon": 1, "fit_share": 0.5},
    ],
)
def test_terms_that_mean_nothing_are_refused(terms):
    asked = settle(ASK.edges(), TABLES, Terms.stated(**terms))
    assert isinstance(asked, AskedStatistic)
    with pytest.raises(ParameterError, match="statistic"):
        asked.request()
    with pytest.raises(ParameterError, match="statistic"):
        asked.explain(sql=False)


def test_an_offer_is_needed_and_a_finished_request_takes_no_second_one():
    with pytest.raises(ParameterError, match="epsilon"):
        settle(ASK.edges(), TABLES, Terms.stated()).request()
    finished = settle(ASK.edges(), TABLES, Terms.stated(epsilon=1)).request()
    assert settle(finished, TABLES, Terms.stated()).request() is finished
    with pytest.raises(ParameterError, match="second offer"):
        settle(finished, TABLES, Terms.stated(epsilon=1)).request()


def test_questions_about_persons_are_refused_under_another_relation_alone():
    refuse_other_relations(TABLES, Terms.stated())
    with pytest.raises(UnsupportedQuery, match=r"adding or removing one row; ask curator\.graph"):
        refuse_other_relations(TABLES, Terms(neighbors=ADD_REMOVE_ROW))
