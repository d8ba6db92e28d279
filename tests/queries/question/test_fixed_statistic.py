"""Questions about a table of a public number of rows: what is made of them, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from curator.request.statistics.related_tables import graph, survey
from discreet.curator.request.statistics.by_profile import ByProposal, BySmoothSensitivity
from discreet.curator.request.statistics.cell_estimates import LearnedCells, SmallDatabaseCells
from discreet.curator.request.statistics.fixed_counts import CellCounts, ColumnMean, RowCount
from discreet.curator.request.statistics.stable_mode import StableMode
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.queries.question.fixed_statistic import FixedQuestions

LEVEL = Fraction(95, 100)
ASK = FixedQuestions("survey")
PURE, BOTH = Offer(epsilon=1), Offer(epsilon=1, delta=Fraction(1, 100))


def made(question, offer, table=None):
    return question.request({"survey": table or survey()}, offer, LEVEL).statistic


@pytest.mark.parametrize(
    ("question", "offer", "kind"),
    [
        (ASK.count(color="red"), PURE, RowCount),
        (ASK.counts("color"), PURE, CellCounts),
        (ASK.mean("x"), BOTH, ColumnMean),
        (ASK.median("x"), PURE, BySmoothSensitivity),
        (ASK.quantile("x", Fraction(1, 4)), PURE, BySmoothSensitivity),
        (ASK.median_within("x", 1), BOTH, ByProposal),
        (ASK.quantile_within("x", Fraction(9, 10), 2), BOTH, ByProposal),
        (ASK.mode("color"), BOTH, StableMode),
        (ASK.small_database("color", records=2), PURE, SmallDatabaseCells),
        (ASK.learned("color"), PURE, LearnedCells),
    ],
)
def test_each_question_makes_the_statistic_that_was_proven(question, offer, kind):
    statistic = made(question, offer)
    assert type(statistic) is kind
    assert statistic.fits(survey())
    assert not statistic.fits(survey(count=4))


@pytest.mark.parametrize(
    ("question", "offer"),
    [
        (ASK.count(color="blue"), PURE),
        (ASK.count(x=1), PURE),
        (ASK.counts("x"), PURE),
        (ASK.counts(), PURE),
        (ASK.counts("color", "color"), PURE),
        (ASK.mean("color"), PURE),
        (ASK.mean("pay"), PURE),
        (ASK.mean(3), PURE),
        (ASK.median_within("x", Fraction(1, 2)), BOTH),
        (ASK.median_within("x", 1), PURE),
        (ASK.mode("color"), PURE),
        (ASK.learned("color"), BOTH),
        (ASK.small_database("color", records=10**6), PURE),
    ],
)
def test_what_was_not_declared_or_does_not_go_together_is_refused(question, offer):
    with pytest.raises(ParameterError):
        made(question, offer)


def test_numbers_are_checked_when_a_question_is_built():
    for question in (
        ASK.count,
        lambda: ASK.quantile("x", 2),
        lambda: ASK.median_within("x", 0),
        lambda: ASK.small_database("color", records=0),
        lambda: ASK.learned("color", rounds=0),
    ):
        with pytest.raises(ParameterError):
            question()
    with pytest.raises(ParameterError, match="graph"):
        made(ASK.mean("x"), PURE, graph())
