"""A door computes under the declarations that its ledger holds, and only amendments change them."""

from __future__ import annotations

import threading
from fractions import Fraction
from unittest import mock

import pytest

from curator.doors import (
    BY_CITY,
    COLUMNS,
    COUNT,
    clinic,
    computing,
    entries,
    stubbed,
    usual_visits,
    visits,
)
from discreet.curator import Budget, Door
from discreet.curator import door as door_module
from discreet.curator.table_records import declare
from discreet.data import Bounds, Keys, Limits, Type
from discreet.errors import (
    BudgetExceeded,
    EngineFailed,
    LedgerMismatch,
    ParameterError,
)

HALF = {"epsilon": "1/2"}


def refuse_to_compute(plan, tables, *, salt):
    raise AssertionError("the data were read")


OTHER_TABLES = {
    "person": {"person": "household"},
    "limits": {"limits": Limits(rows=4)},
    "kind of limits": {"limits": Limits(groups=3, rows_per_group=1)},
    "bounds": {"columns": {**COLUMNS, "cost": Bounds(0, 6000, step=0.01)}},
    "step": {"columns": {**COLUMNS, "cost": Bounds(0, 5000, step=1)}},
    "rules": {"columns": {**COLUMNS, "cost": Bounds(0, 5000, step=0.01, nan=0)}},
    "keys": {"columns": {**COLUMNS, "city": Keys(["Taipei", "Oslo"])}},
    "fewer columns": {"columns": {"age": COLUMNS["age"]}},
    "more columns": {"columns": {**COLUMNS, "household": Type.INTEGER}},
}


@pytest.mark.parametrize("what", OTHER_TABLES)
def test_other_tables_need_an_amendment(place, what):
    clinic(place).ask(COUNT, **HALF)
    others = {"visits": visits(**OTHER_TABLES[what])}
    before = entries(clinic(place))
    with pytest.raises(LedgerMismatch, match=r"other tables than was given.*amend"):
        clinic(place, tables=others)
    assert entries(clinic(place)) == before
    curator = clinic(place)
    curator.amend(reason="we know better now", tables=others)
    (amendment,) = entries(curator, "amend")
    assert amendment.body["reason"] == "we know better now"
    assert curator.account().lifetime.epsilon == Fraction(1, 2)
    assert len(curator.ask(COUNT, **HALF).outputs) == 1
    with pytest.raises(LedgerMismatch):
        clinic(place)
    clinic(place, tables=others)


@pytest.mark.parametrize(
    "tables", [{}, {"staff": usual_visits()}, {"visits": usual_visits(), "x": visits([])}]
)
def test_other_names_of_tables_need_an_amendment(place, tables):
    clinic(place)
    with pytest.raises((LedgerMismatch, ParameterError)):
        Door(tables, budget=Budget(epsilon=10), ledger=place / "clinic.ledger")


@pytest.mark.parametrize(
    "budget",
    [
        Budget(epsilon=11),
        Budget(epsilon=10, delta="1e-9"),
        Budget(rho=10),
        Budget(epsilon=10, renews="daily"),
        Budget(epsilon=10, per_analyst=Budget(epsilon=1)),
    ],
)
def test_another_budget_needs_an_amendment(place, budget):
    clinic(place)
    with pytest.raises(LedgerMismatch, match="another budget"):
        clinic(place, budget=budget)
    curator = clinic(place)
    curator.amend(reason="asked for by the board", budget=budget)
    assert curator.budget == clinic(place, budget=budget).budget == budget


@pytest.mark.parametrize("reason", ["", "  ", None, 3])
def test_an_amendment_has_a_reason(place, reason):
    with pytest.raises(ParameterError, match="reason"):
        clinic(place).amend(reason=reason, budget=Budget(epsilon=11))


@pytest.mark.parametrize("changes", [{"budget": 3}, {"tables": {}}, {"tables": {"visits": 3}}, {"tables": 3}])
def test_an_amendment_is_of_tables_and_budgets(place, changes):
    curator = clinic(place)
    with pytest.raises(ParameterError):
        curator.amend(reason="why not", **changes)
    assert entries(curator, "amend") == []


def test_caps_rise_and_fall_but_not_below_what_was_spent(place):
    curator = clinic(place, budget=Budget(epsilon=1))
    curator.ask(COUNT, epsilon=1)
    with pytest.raises(BudgetExceeded):
        curator.ask(COUNT, epsilon="1/2")
    curator.amend(reason="more", budget=Budget(epsilon=2))
    curator.ask(COUNT, epsilon="1/2")
    for lower in ("1.49", 0):
        with pytest.raises(BudgetExceeded):
            curator.amend(reason="less", budget=Budget(epsilon=lower))
    assert curator.budget == Budget(epsilon=2)
    curator.amend(reason="less", budget=Budget(epsilon="1.5"))
    assert curator.remaining.epsilon == 0


def test_another_version_is_another_answer(place):
    curator = clinic(place)
    curator.ask(COUNT, **HALF)
    newer = clinic(place, tables={"visits": usual_visits("2")})
    assert not newer.preview(COUNT, **HALF).answered
    newer.ask(COUNT, **HALF)
    assert len(entries(newer, "charge")) == 2
    request = curator.request(COUNT, **HALF)
    with pytest.raises(ParameterError, match="other tables"):
        newer.answer(request)


def test_another_unit_is_another_answer(place):
    """The stored answer protects patients; it is not an answer to a question about households."""
    curator = clinic(place)
    curator.ask(COUNT, **HALF)
    curator.amend(reason="households move together", tables={"visits": visits(person="household")})
    assert not curator.preview(COUNT, **HALF).answered
    release = curator.ask(COUNT, **HALF)
    assert len(entries(curator, "charge")) == 2
    assert release.label["unit"] == {"visits": "all rows with the same household"}


def test_a_request_made_under_other_declarations_is_refused_before_the_charge(place):
    curator = clinic(place)
    request = curator.request(COUNT, **HALF)
    curator.amend(reason="more rows", tables={"visits": visits(limits=Limits(rows=30))})
    with pytest.raises(ParameterError, match="other declarations"), computing(refuse_to_compute):
        curator.answer(request)
    with pytest.raises(ParameterError, match="other declarations"):
        curator.preview(request)
    assert entries(curator, "charge") == []


def test_a_door_whose_tables_were_amended_elsewhere_does_nothing_more(place):
    stale, other = clinic(place), clinic(place)
    stored, unanswered = stale.request(COUNT, **HALF), stale.request(BY_CITY, **HALF)
    stale.answer(stored)
    with computing(lambda *_, **__: 1 / 0), pytest.raises(EngineFailed):
        stale.answer(unanswered)
    other.amend(reason="the column was wrong", tables={"visits": visits(person="household")})
    before = entries(other)
    with computing(refuse_to_compute):
        for attempt in (
            lambda: stale.ask(COUNT, epsilon=1),
            lambda: stale.answer(stored),
            lambda: stale.answer(unanswered),
            lambda: stale.preview(COUNT, epsilon=1),
            lambda: stale.permit("training", epsilon=1),
            lambda: stale.amend(reason="more", budget=Budget(epsilon=20)),
            lambda: stale.amend(reason="back", tables={"visits": usual_visits()}),
        ):
            with pytest.raises(LedgerMismatch, match="amended since"):
                attempt()
    assert entries(other) == before
    other.ask(COUNT, epsilon=1)


def test_amendments_in_another_process_are_not_undone(place):
    first, second = clinic(place), clinic(place)
    first.amend(reason="more", budget=Budget(epsilon=20))
    second.amend(reason="the same tables, another version", tables={"visits": usual_visits("2")})
    assert second.budget == Budget(epsilon=20)
    first.ask(COUNT, epsilon=15)


def test_amendments_in_another_thread_are_not_undone(place):
    curator = clinic(place)
    others = {"visits": visits(limits=Limits(rows=30))}
    calls = []

    def overtaken(tables):
        if not calls:
            calls.append(tables)
            curator.amend(reason="quick", tables=others)
        return declare(tables)

    with mock.patch.object(door_module, "declare", overtaken), pytest.raises(LedgerMismatch):
        curator.amend(reason="slow", budget=Budget(epsilon=20))
    assert [entry.body["reason"] for entry in entries(curator, "amend")] == ["quick"]
    clinic(place, tables=others)


def test_a_budget_that_was_lowered_elsewhere_holds_here(place):
    here, there = clinic(place), clinic(place)
    there.amend(reason="less", budget=Budget(epsilon="1/4"))
    with pytest.raises(BudgetExceeded):
        here.ask(COUNT, **HALF)


def test_an_amendment_between_check_and_charge_is_noticed(place):
    """The request was checked against the old tables, and another thread amends them."""
    curator = clinic(place)
    request = curator.request(COUNT, **HALF)
    original = curator._charged

    def amended_first(*arguments):
        thread = threading.Thread(
            target=lambda: curator.amend(reason="now", tables={"visits": visits(limits=Limits(rows=30))})
        )
        thread.start()
        thread.join()
        return original(*arguments)

    with (
        mock.patch.object(curator, "_charged", amended_first),
        computing(refuse_to_compute),
        pytest.raises(LedgerMismatch, match="amended since"),
    ):
        curator.answer(request)
    assert entries(curator, "charge") == []


def test_an_amendment_after_the_charge_leaves_the_view_of_the_tables(place):
    """What was charged under one declaration is never computed under another."""
    curator = clinic(place)
    answer, seen = curator.ledger.answer, []

    def amended_meanwhile(charge):
        curator.amend(reason="now", tables={"visits": visits(limits=Limits(rows=30))})
        return answer(charge)

    def watched(plan, tables, *, salt):
        seen.append(tables["visits"].limits)
        return stubbed(plan, tables, salt=salt)

    with mock.patch.object(curator.ledger, "answer", amended_meanwhile), computing(watched):
        release = curator.ask(COUNT, **HALF)
    assert seen == [Limits(rows=3)]
    assert release.label["tables"]["visits"]["limits"]["rows"] == 3


def test_a_table_that_was_changed_in_place_is_noticed(place):
    table = visits()
    curator = clinic(place, tables={"visits": table})
    table.limits = Limits(rows=30)
    with pytest.raises(LedgerMismatch):
        curator.ask(COUNT, **HALF)
    assert entries(curator, "charge") == []
