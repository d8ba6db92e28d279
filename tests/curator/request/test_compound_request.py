"""A statement of several questions is paid for as a whole: one charge, one answer, in any crash or race."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from unittest import mock

import pytest

from curator.doors import clinic, computing, entries
from discreet.curator import Budget, schema
from discreet.curator import door as door_module
from discreet.curator.request.compound_request import CompoundRequest
from discreet.data import compute
from discreet.errors import BudgetExceeded, EngineFailed, LedgerTampered, ParameterError

SHARE = (
    "SELECT city, COUNT(*) / (SELECT COUNT(*) FROM visits WHERE age > 7) AS share FROM visits GROUP BY city"
)
OTHER = (
    "SELECT (SELECT COUNT(*) FROM visits WHERE age > 7) - MAX(n) AS d FROM (SELECT city, COUNT(*) AS n "
    "FROM visits GROUP BY city) AS t"
)
"""Another statement, of the same measurements in another order."""
ONE = "SELECT MAX(n) AS m FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) AS t"


class Crash(BaseException):
    """The process ends here."""


def test_all_questions_are_one_charge_of_the_whole_offer(tmp_path):
    curator = clinic(tmp_path)
    request = curator.request(SHARE, epsilon=1)
    assert isinstance(request, CompoundRequest)
    assert len(request.requests) == 2
    release = curator.ask(SHARE, epsilon=1)
    assert [one.requests for one in (request, release.request)] == [request.requests] * 2
    (charge,) = entries(curator, "charge")
    assert len(charge.body["plan"]["plans"]) == 2
    assert curator.account().lifetime.epsilon == Fraction(1)
    assert release.event.pure_epsilon == 1


def test_the_same_measurements_are_answered_from_the_store(tmp_path):
    curator = clinic(tmp_path)
    first = curator.ask(SHARE, epsilon=1)
    assert curator.ask(SHARE, epsilon=1)["share"].tolist() == first["share"].tolist()
    assert curator.preview(OTHER, epsilon=1).answered
    assert curator.ask(OTHER, epsilon=1).stored
    assert not curator.preview(SHARE, epsilon=2).answered
    assert len(entries(curator, "charge")) == 1


def test_a_statement_of_one_question_is_that_question(tmp_path):
    curator = clinic(tmp_path)
    release = curator.ask(ONE, epsilon=1)
    counts = curator.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=1)
    assert counts.stored
    assert release["m"][0] == counts["n"].max()


def test_what_does_not_fit_as_a_whole_is_not_paid_at_all(tmp_path):
    curator = clinic(tmp_path, budget=Budget(epsilon="3/4"))

    def reading(plan, tables, *, salt):
        raise AssertionError("the data were read")

    with computing(reading), pytest.raises(BudgetExceeded):
        curator.ask(SHARE, epsilon=1)
    assert not entries(curator, "charge")


def test_an_engine_that_fails_at_the_second_question_keeps_one_charge(tmp_path):
    curator, calls = clinic(tmp_path), []

    def failing(plan, tables, *, salt):
        calls.append(plan)
        if len(calls) == 2:
            raise ValueError("Could not convert 'HIV+'")
        return compute(plan, tables, salt=salt)

    with computing(failing), pytest.raises(EngineFailed):
        curator.ask(SHARE, epsilon=1)
    assert len(entries(curator, "charge")) == 1
    assert len(entries(curator, "answer")) == 1  # the ledger's own secret
    assert not curator.ask(SHARE, epsilon=1).stored
    assert len(entries(curator, "charge")) == 1


@pytest.mark.parametrize("moment", ["compute", "pack_several", "assembled"])
def test_a_crash_leaves_nothing_half_paid(tmp_path, moment):
    curator = clinic(tmp_path)

    def crash(*arguments, **options):
        raise Crash

    with mock.patch.object(door_module, moment, crash), suppress(Crash):
        curator.ask(SHARE, epsilon=1)
    first = clinic(tmp_path).ask(SHARE, epsilon=1)
    assert curator.ask(SHARE, epsilon=1)["share"].tolist() == first["share"].tolist()
    assert len(entries(curator, "charge")) == 1
    assert curator.account().lifetime.epsilon == 1


def test_two_statements_race_for_the_last_budget(tmp_path):
    """Each needs all that is left: one is paid as a whole, of the other nothing is."""
    clinic(tmp_path, budget=Budget(epsilon=1)).close()
    other = OTHER.replace("age > 7", "age > 8")

    def asking(text):
        curator = clinic(tmp_path, budget=Budget(epsilon=1))
        try:
            return curator.ask(text, epsilon=1)
        except BudgetExceeded:
            return None
        finally:
            curator.close()

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(asking, [SHARE, other]))
    assert sum(one is not None for one in found) == 1
    curator = clinic(tmp_path, budget=Budget(epsilon=1))
    assert curator.account().lifetime.epsilon == 1
    assert len(entries(curator, "charge")) == 1


def test_a_stored_answer_of_fewer_measurements_is_noticed(tmp_path):
    curator = clinic(tmp_path)
    request = curator.request(SHARE, epsilon=1)
    with pytest.raises(LedgerTampered):
        door_module.unpack_several(request, b"[[1,2,3]]")


def test_the_label_speaks_of_all_questions(tmp_path):
    release = clinic(tmp_path).ask(SHARE, epsilon=1)
    assert set(release.label) <= set(schema()["properties"])
    assert release.label["loss"]["epsilon"] == "1"
    assert "; and " in release.label["plan"]
    assert release.label["outputs"] == ["share"]


def test_what_cannot_be_a_statement_is_refused(tmp_path):
    curator = clinic(tmp_path)
    request = curator.request(SHARE, epsilon=1)
    with pytest.raises(ParameterError, match="requests"):
        CompoundRequest(requests=(), assembly=request.assembly)
    with pytest.raises(ParameterError, match="several answers"):
        curator.remeasure(curator.ask(SHARE, epsilon=1), epsilon=1)
    with pytest.raises(ParameterError, match="split"):
        curator.ask(SHARE, epsilon=1, split={"share": 1})
    assert curator.ask(request).stored
