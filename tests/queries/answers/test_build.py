"""How an offer is divided over the questions of a statement."""

# ruff: noqa: S608

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.queries.answers.build import build_statement, offer_for_error, shares_of_parts
from discreet.queries.question.terms import Terms
from queries.answers.statements import COUNTS, asked, tables

UNEQUAL = (
    "SELECT city, COUNT(*) / (SELECT COUNT(*) FROM visits) AS p, AVG(cost) AS m FROM visits GROUP BY city"
)


def test_shares_are_numbers_of_aggregates():
    statement = asked(UNEQUAL, epsilon=1).statement
    shares = dict(
        zip((len(part.outputs) for part in statement.parts), shares_of_parts(statement), strict=True)
    )
    assert shares == {1: Fraction(1, 3), 2: Fraction(2, 3)}


@pytest.mark.parametrize(
    ("offer", "spent"),
    [
        ({"epsilon": "3/4"}, lambda event: event.pure_epsilon == Fraction(3, 4)),
        ({"rho": "1/5"}, lambda event: event.concentrated_rho <= Fraction(1, 5)),
    ],
)
def test_questions_together_cost_what_is_offered(offer, spent):
    assert spent(asked(UNEQUAL, **offer).request().event)


def test_epsilon_and_delta_are_divided_alike():
    from discreet.accounting import epsilon

    request = asked(UNEQUAL, epsilon=1, delta="1e-6").request()
    assert epsilon(request.event, delta=1e-6).upper <= 1


def test_quantiles_are_chosen_for_the_confidence_that_all_need_together():
    alone = asked("SELECT MEDIAN(cost) AS m FROM visits", epsilon=1).request()
    both = asked(
        "SELECT MEDIAN(cost) - (SELECT COUNT(*) FROM visits WHERE cost > 3) AS m FROM visits", epsilon=2
    )
    shifts = [
        max(abs(choice.rule.shift) for choice in request.parts[0].mechanism.choices)
        for request in (
            alone,
            next(one for one in both.request().requests if hasattr(one.parts[0].mechanism, "choices")),
        )
    ]
    assert shifts[1] > shifts[0]


def test_a_split_over_several_questions_is_refused():
    statement = asked(UNEQUAL, epsilon=1).statement
    with pytest.raises(ParameterError, match="split"):
        build_statement(statement, statement.parts, tables(), [], Terms.stated(epsilon=1, split={"p": 1}))
    one = asked(
        "SELECT MAX(n) AS m, AVG(c) AS a FROM (SELECT city, COUNT(*) AS n, AVG(cost) AS c FROM visits "
        "GROUP BY city) AS t",
        epsilon=1,
        split={"n": 1, "c": 3},
    )
    assert one.request().event.pure_epsilon == 1


def test_the_least_offer_for_an_error():
    statement = asked(f"SELECT MAX(n) AS m FROM {COUNTS}", error={"m": 20})
    offer = offer_for_error(statement.terms, statement.statement, statement._request_for)
    assert statement._request_for(offer).expectations(1000)[0].margin <= 20
