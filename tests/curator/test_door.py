"""The door charges first, answers once, and lets out what was kept."""

from __future__ import annotations

import json
from contextlib import suppress
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
    usual_visits,
    visits,
)
from discreet.curator import Budget, Door
from discreet.curator import door as door_module
from discreet.data import Keys, col, compute, count
from discreet.errors import (
    BudgetExceeded,
    EngineFailed,
    LedgerMismatch,
    LedgerUnavailable,
    ParameterError,
)
from discreet.mechanisms import Laplace
from discreet.noise import replay

HALF = {"epsilon": "1/2"}


class Crash(BaseException):
    """The process ends here."""


def values(release):
    return json.dumps(release.columns())


def test_who_was_overtaken_returns_the_answer_of_the_other(place):
    """Another process charges and answers after we looked and before we decide: nothing is computed again."""
    curator, other = clinic(place), clinic(place)
    looked, kept = curator.ledger.look, []

    def overtaken(kind, key):
        found = looked(kind, key)
        kept.append(other.ask(COUNT, **HALF))
        return found

    computed = mock.Mock(side_effect=compute)
    with mock.patch.object(curator.ledger, "look", overtaken), computing(computed):
        mine = curator.ask(COUNT, **HALF)
    assert values(mine) == values(kept[0])
    assert (mine.stored, computed.call_count) == (True, 1)
    assert [entry.kind for entry in entries(curator)] == ["open", "answer", "charge", "answer"]


def test_a_ledger_is_read_and_written_no_more_often_than_needed(place):
    """One look, one decision, one reading before the answer is kept; a stored answer takes one look."""
    curator = clinic(place)
    store = curator.ledger._store
    with (
        mock.patch.object(store, "snapshot", wraps=store.snapshot) as read,
        mock.patch.object(store, "transaction", wraps=store.transaction) as written,
    ):
        curator.ask(COUNT, **HALF)
        assert (read.call_count, written.call_count) == (2, 2)
        curator.ask(COUNT, **HALF)
        assert (read.call_count, written.call_count) == (3, 2)


def test_the_charge_is_durable_before_the_data_are_read(place):
    """When the engine is asked, another connection to the file finds the charge."""
    curator = clinic(place)
    seen = []

    def watched(plan, tables, *, salt):
        other = clinic(place)
        seen.append([entry.kind for entry in entries(other)])
        return compute(plan, tables, salt=salt)

    with computing(watched):
        curator.ask(COUNT, **HALF)
    assert seen == [["open", "answer", "charge"]]


def test_charge_compute_noise_keep_answer_in_this_order(place):
    curator = clinic(place)
    request = curator.request(COUNT, **HALF)
    calls = []

    def spied(target, name, word):
        original = getattr(target, name)

        def call(*arguments, **options):
            calls.append(f"{word} begins")
            result = original(*arguments, **options)
            calls.append(f"{word} ends")
            return result

        return mock.patch.object(target, name, call)

    with (
        spied(curator.ledger, "decision", "charge"),
        spied(door_module, "compute", "compute"),
        spied(Laplace, "release", "noise"),
        spied(curator.ledger, "keep_answer", "keep"),
        spied(door_module, "assembled", "answer"),
    ):
        curator.answer(request)
    words = ["charge", "compute", "noise", "keep", "answer"]
    assert calls == [f"{word} {end}" for word in words for end in ("begins", "ends")]


def refuse_to_compute(plan, tables, *, salt):
    raise AssertionError("the data were read")


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        (lambda c: c.ask(COUNT, epsilon=11), BudgetExceeded),
        (lambda c: c.ask(COUNT, rho=1), BudgetExceeded),
        (lambda c: c.ask(COUNT, epsilon=1, analyst="x" * 201), ParameterError),
        (lambda c: c.ask("SELECT * FROM visits", epsilon=1), Exception),
        (lambda c: c.ask(COUNT, epsilon=-1), ParameterError),
        (lambda c: c.answer("SELECT"), ParameterError),
        (lambda c: c.answer(None), ParameterError),
    ],
)
def test_what_is_refused_reads_nothing_and_records_nothing(place, attempt, error):
    curator = clinic(place)
    before = entries(curator)
    with computing(refuse_to_compute), pytest.raises(error):
        attempt(curator)
    assert entries(curator) == before


@pytest.mark.parametrize("moment", ["look", "decision", "keep_answer"])
def test_without_a_ledger_there_is_no_answer(place, moment):
    curator = clinic(place)
    request = curator.request(COUNT, **HALF)

    def unavailable(*arguments, **options):
        raise LedgerUnavailable("not now")

    with mock.patch.object(curator.ledger, moment, unavailable), pytest.raises(LedgerUnavailable):
        curator.answer(request)
    curator.answer(request)
    assert len(entries(curator, "charge")) == 1


def test_the_same_request_is_answered_from_the_store(place):
    curator = clinic(place)
    first = curator.ask(BY_CITY, **HALF)
    with computing(refuse_to_compute):
        second = curator.ask(BY_CITY, **HALF)
        third = clinic(place).ask(BY_CITY, **HALF)
    assert values(first) == values(second) == values(third)
    assert len(entries(curator, "charge")) == 1
    assert curator.account().lifetime.epsilon == Fraction(1, 2)


def test_another_analyst_gets_the_same_answer_for_nothing(place):
    curator = clinic(place, budget=Budget(epsilon=10, per_analyst=Budget(epsilon="1/2")))
    first = curator.ask(COUNT, analyst="ana", **HALF)
    assert values(curator.ask(COUNT, analyst="bo", **HALF)) == values(first)
    assert curator.remaining_of("bo").epsilon == 0.5
    assert [entry.body["analyst"] for entry in entries(curator, "charge")] == ["ana"]


def test_an_engine_that_fails_keeps_the_charge_and_a_retry_is_free(place):
    curator = clinic(place)

    def failing(plan, tables, *, salt):
        raise ValueError("Could not convert string 'HIV+' to INT64")

    with computing(failing):
        for _ in range(3):
            with pytest.raises(EngineFailed) as failure:
                curator.ask(COUNT, **HALF)
            assert "HIV" not in str(failure.value)
            assert failure.value.__context__ is None
            assert failure.value.__cause__ is None
    assert len(entries(curator, "charge")) == 1
    assert curator.account().lifetime.epsilon == Fraction(1, 2)
    curator.ask(COUNT, **HALF)
    assert len(entries(curator, "charge")) == 1


def test_noise_that_fails_says_nothing_either(place):
    curator = clinic(place)
    with mock.patch.object(Laplace, "release", side_effect=ValueError("1234")), pytest.raises(EngineFailed):
        curator.ask(COUNT, **HALF)


@pytest.mark.parametrize("moment", ["compute", "pack_several", "assembled"])
def test_a_crash_after_the_charge_keeps_it_and_the_next_door_answers(place, moment):
    curator = clinic(place)

    def crash(*arguments, **options):
        raise Crash

    with mock.patch.object(door_module, moment, crash), suppress(Crash):
        curator.ask(COUNT, **HALF)
    assert len(entries(curator, "charge")) == 1
    stored = len(entries(curator, "answer"))
    assert stored == (2 if moment == "assembled" else 1)
    first = clinic(place).ask(COUNT, **HALF)
    assert values(curator.ask(COUNT, **HALF)) == values(first)
    assert len(entries(curator, "charge")) == 1


def test_a_crash_before_the_commit_charges_nothing(place):
    curator = clinic(place)

    def crash(point):
        if point == "appended":
            raise Crash

    curator.ledger._reached = crash
    with suppress(Crash):
        curator.ask(COUNT, **HALF)
    assert entries(clinic(place), "charge") == []


def test_two_doors_that_answer_at_once_give_one_answer(place):
    """While the first computes, a second asks the same, computes and keeps its own answer."""
    first, second = clinic(place), clinic(place)
    others = []

    def meanwhile(plan, tables, *, salt):
        if not others:
            others.append(None)
            others[0] = values(second.ask(BY_CITY, **HALF))
        return compute(plan, tables, salt=salt)

    with computing(meanwhile):
        assert values(first.ask(BY_CITY, **HALF)) == others[0]
    assert len(entries(first, "charge")) == 1
    assert len(entries(first, "answer")) == 2  # the other one is the ledger's secret


def test_two_ledgers_have_two_secrets(place):
    first, second = clinic(place), clinic(place, name="second.ledger")
    for curator in (first, second):
        curator.ask(COUNT, **HALF)
    assert entries(first, "charge")[0].key != entries(second, "charge")[0].key
    assert clinic(place)._secret == first._secret != second._secret


def test_a_charge_says_who_which_law_and_which_plan_without_literals(place):
    curator = clinic(place)
    curator.ask(f"{COUNT} AND age < 777123 AND city = 'Sesame'", analyst="ana", **HALF)
    (charge,) = entries(curator, "charge")
    assert set(charge.body) == {"analyst", "event", "plan", "versions"}
    assert charge.body["analyst"] == "ana"
    assert charge.body["event"]["event"] == "DiscreteLaplace"
    assert charge.body["plan"]["node"] == "group"
    assert '"type":"integer"' in charge.text
    assert "777123" not in charge.to_json()
    assert "Sesame" not in charge.to_json()


def test_long_and_deep_plans_are_recorded_by_their_hash(place):
    curator = clinic(place)
    many = f"{COUNT} AND age IN ({', '.join(map(str, range(1000)))})"
    condition = col("age") < 3
    for _ in range(40):
        condition = ~condition
    deep = curator.table("visits").filter(condition).agg(n=count())
    for question in (many, deep):
        curator.ask(question, epsilon="1/10")
    for charge in entries(curator, "charge"):
        assert set(charge.body["plan"]) == {"sha256"}
    assert curator.ledger.verify().answers == 3


def test_a_hundred_thousand_keys_are_recorded_by_their_hash(place):
    keys = Keys(range(100_000))
    table = visits(columns={**COLUMNS, "household": keys})
    curator = clinic(place, tables={"visits": table}, budget=Budget(epsilon=1))
    release = curator.ask("SELECT household, COUNT(*) AS n FROM visits GROUP BY household", epsilon=1)
    assert len(release["n"]) == 100_000
    assert sum(len(entry.text) for entry in entries(curator)) < 20_000
    others = visits(columns={**COLUMNS, "household": Keys(range(1, 100_001))})
    with pytest.raises(LedgerMismatch, match="tables"):
        clinic(place, tables={"visits": others}, budget=Budget(epsilon=1))


def test_replayed_noise_stays_marked(place):
    """Whoever knows the seed knows the noise: the answer says so, even when it is read from the store."""
    curator = clinic(place)
    with replay(7):
        drawn = curator.ask(BY_CITY, **HALF)
    stored = clinic(place).ask(BY_CITY, **HALF)
    for release in (drawn, stored):
        assert release.label["private"] is False
        assert "replayed noise: not private" in str(release)
    other = curator.ask(COUNT, **HALF)
    assert other.label["private"] is True
    assert "replayed" not in str(other)


def test_a_door_needs_tables_and_a_budget(place):
    table = usual_visits()
    for tables in (
        {},
        {"visits": 3},
        {3: table},
        {"": table},
        {"a\nb": table},
        {"\ud800": table},
        [table],
        None,
    ):
        with pytest.raises(ParameterError, match="tables"):
            Door(tables, budget=Budget(epsilon=1), ledger=place / "l")
    for budget in (None, 3, "3"):
        with pytest.raises(ParameterError, match="budget"):
            Door({"visits": table}, budget=budget, ledger=place / "l")
    assert list(place.iterdir()) == []


def test_a_door_closes(place):
    curator = clinic(place)
    curator.close()
    assert curator.tables.keys() == {"visits"}
