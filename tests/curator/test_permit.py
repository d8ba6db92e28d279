"""A permit reserves durably before it returns rows, and frees what was never charged."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from fractions import Fraction
from unittest import mock

import pyarrow
import pytest

from curator.doors import COUNT, LIMITS, ROWS, SCHEMA, Clock, clinic, entries, usual_visits
from discreet.accounting import epsilon_and_delta
from discreet.curator import Budget, Permit
from discreet.data import PublicTable, Table
from discreet.errors import BudgetExceeded, EngineFailed, LedgerUnavailable, ParameterError, UnsupportedQuery
from discreet.privacy.events import Approximate, DiscreteLaplace, Gaussian, Pure, ZeroConcentrated
from discreet.privacy.neighbors import ADD_REMOVE_ROW, REPLACE_PERSON


class Crash(BaseException):
    """The process ends here."""


def test_the_reservation_is_durable_before_any_row_is_handed_out(place):
    curator = clinic(place)
    kinds = []

    def watched(table):
        kinds.append([entry.kind for entry in entries(clinic(place))])
        return pyarrow.table({})

    with mock.patch.object(Table, "_rows", watched):
        curator.permit("training", epsilon=3).raw_rows("visits")
    assert kinds == [["open", "answer", "reserve"]]


def test_without_a_reservation_there_is_no_permit(place):
    curator = clinic(place)
    with pytest.raises(BudgetExceeded):
        curator.permit("training", epsilon=11)
    with (
        mock.patch.object(curator.ledger, "decision", side_effect=LedgerUnavailable("not now")),
        pytest.raises(LedgerUnavailable),
    ):
        curator.permit("training", epsilon=1)
    assert entries(curator, "reserve") == []


def test_prices_are_found_before_anybody_waits(place, monkeypatch):
    """A run may take a second to price; the ledger is locked for less."""
    curator = clinic(place, budget=Budget(epsilon=3, delta="1e-6"))
    locked, waited = [], []
    epsilon = epsilon_and_delta.epsilon

    def priced(event, *, delta):
        waited.append(bool(locked))
        return epsilon(event, delta=delta)

    @contextmanager
    def transaction():
        with begin() as records:
            locked.append(True)
            try:
                yield records
            finally:
                locked.clear()

    begin = curator.ledger._store.transaction
    monkeypatch.setattr(curator.ledger._store, "transaction", transaction, raising=False)
    monkeypatch.setattr(epsilon_and_delta, "epsilon", priced)
    step = DiscreteLaplace(sensitivity=1, scale=31) + Gaussian(noise_multiplier=7)
    with curator.permit("training", step * 3) as permit:
        permit.charge(step)
    with curator.permit("training", epsilon=1, delta="1e-7") as permit:
        permit.charge(DiscreteLaplace(sensitivity=1, scale=29) + Gaussian(noise_multiplier=40))
    curator.amend(budget=Budget(epsilon=4, delta="1e-6"), reason="more")
    assert waited
    assert not any(waited)


def test_raw_rows_are_those_of_the_table(place):
    curator = clinic(place)
    with curator.permit("training", epsilon=1) as permit:
        rows = permit.raw_rows("visits")
    assert rows.schema.equals(SCHEMA)
    key = lambda row: tuple(row.values())  # noqa: E731
    assert sorted(rows.to_pylist(), key=key) == sorted(ROWS, key=key)
    assert usual_visits()._rows().num_rows == len(ROWS)


def test_rows_are_bounded_and_clipped_as_declared(place):
    curator = clinic(place)
    with curator.permit("training", epsilon=1) as permit:
        rows = permit.rows("visits").to_pylist()
    assert rows[0].keys() == {"patient", "city", "age", "cost"}  # a note was never declared
    counts = Counter(row["patient"] for row in rows)
    assert counts == dict.fromkeys(range(20), LIMITS.rows)
    assert max(row["age"] for row in rows) == 110
    assert max(row["cost"] for row in rows) == 5000


def test_rows_of_a_public_table_are_all_its_rows(place):
    cities = PublicTable(pyarrow.table({"city": ["Oslo", None], "country": ["Norway", "nowhere"]}))
    curator = clinic(place, tables={"visits": usual_visits(), "cities": cities})
    with curator.permit("training", epsilon=1) as permit:
        assert permit.rows("cities").num_rows == permit.raw_rows("cities").num_rows == 2


def test_a_permit_takes_an_event_or_a_budget(place):
    budget = Budget(epsilon=3, delta=1e-6)
    curator = clinic(place, budget=budget)
    run = Gaussian(noise_multiplier=20) * 3
    with curator.permit("training", run) as permit:
        permit.charge(run)
        with pytest.raises(BudgetExceeded):
            permit.charge(Gaussian(noise_multiplier=100))
    with curator.permit("tuning", Budget(epsilon="1/10")) as permit:
        permit.charge(Pure(epsilon="1/10"))
    with curator.permit("testing", Budget(epsilon="1/10", delta="1e-9")) as permit:
        permit.charge(Approximate(epsilon="1/10", delta="1e-9"))
    reserved = [entry.body["event"] for entry in entries(curator, "reserve")]
    assert reserved == [
        one.to_object() for one in (run, Pure(epsilon="1/10"), Approximate(epsilon="1/10", delta="1e-9"))
    ]
    for bad in (
        {"most": 3},
        {"most": budget, "epsilon": 1},
        {"most": Budget(epsilon=1, renews="daily")},
        {"most": Budget(rho=1, delta=1e-6)},
        {},
    ):
        with pytest.raises(ParameterError):
            curator.permit("training", **bad)


@pytest.mark.parametrize(
    ("relation", "event"),
    [
        (REPLACE_PERSON, Gaussian(noise_multiplier=9, neighbors=REPLACE_PERSON)),
        (ADD_REMOVE_ROW, Pure(epsilon="1/2", neighbors=ADD_REMOVE_ROW)),  # an edge of a graph
    ],
)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_ledger_of_another_relation_charges_events_of_that_relation_only(place, relation, event, delta):
    caps = Budget(
        epsilon=3, delta=delta, neighbors=relation, per_analyst=Budget(epsilon=2, neighbors=relation)
    )
    if not delta:
        event = Pure(epsilon="1/2", neighbors=relation)
    elif not isinstance(event, Pure):
        caps = Budget(epsilon=3, delta=delta, neighbors=relation)
    curator = clinic(place, budget=caps)
    with curator.permit("training", event) as permit:
        permit.charge(event)
        with pytest.raises(ParameterError, match="relations do not mix"):
            permit.charge(Pure(epsilon="1/9"))
    with curator.permit("tuning", epsilon="1/8") as permit:
        permit.charge(Pure(epsilon="1/8", neighbors=relation))
    with pytest.raises(UnsupportedQuery, match="reserve a permit"):
        curator.ask(COUNT, epsilon=1)
    request = clinic(place, name="persons.ledger").request(COUNT, epsilon=1)
    with pytest.raises(ParameterError, match="relations do not mix"):  # were it to come to the door
        curator.answer(request)
    with pytest.raises(ParameterError, match="neighbor relation"):
        curator.amend(budget=Budget(epsilon=9), reason="more")
    again = clinic(place, budget=caps)
    assert again.spent.requests == 2
    assert 0 < again.spent.epsilon < 3
    assert again.budget.neighbors == relation
    assert Budget.from_body(caps.to_body()) == caps
    assert "person" in str(caps) or "row" in str(caps)


def test_shares_of_a_budget_are_about_its_relation():
    with pytest.raises(ParameterError, match="another neighbor relation"):
        Budget(epsilon=3, neighbors=REPLACE_PERSON, per_analyst=Budget(epsilon=1))
    with pytest.raises(ParameterError, match="neighbor"):
        Budget(epsilon=3, neighbors="replace people")
    assert Budget(epsilon=3, neighbors="replace person").neighbors == REPLACE_PERSON


def test_an_engine_that_fails_says_nothing(place):
    from curator.doors import visits

    table = visits()
    curator = clinic(place, tables={"visits": table})
    table._backend.disconnect()
    with curator.permit("training", epsilon=1) as permit, pytest.raises(EngineFailed) as failure:
        permit.rows("visits")
    assert failure.value.__context__ is None


def test_what_was_charged_stays_and_the_rest_is_freed(place):
    curator = clinic(place)
    with curator.permit("training", epsilon=4, analyst="ana") as permit:
        assert curator.remaining.epsilon == 6
        permit.charge(Pure(epsilon=1))
        permit.charge(Pure(epsilon="1/2"))
        assert curator.remaining.epsilon == 6
        with pytest.raises(BudgetExceeded):
            curator.ask(COUNT, epsilon=7)
    assert curator.remaining.epsilon == 8.5
    assert curator.spent.lifetime_epsilon == 1.5
    assert curator.spent.requests == 1
    assert [entry.kind for entry in entries(curator)][2:] == ["reserve", "use", "use", "settle"]


def test_nothing_runs_past_the_reservation(place):
    curator = clinic(place)
    with curator.permit("training", epsilon=1) as permit:
        permit.charge(Pure(epsilon="0.7"))
        for more in (
            Pure(epsilon="0.31"),
            Approximate(epsilon=0, delta="1e-9"),
            ZeroConcentrated(rho="1e-9"),
        ):
            with pytest.raises(BudgetExceeded, match="does not cover"):
                permit.charge(more)
        permit.charge(Pure(epsilon="0.3"))
    assert curator.account().lifetime.epsilon == 1
    assert len(entries(curator, "use")) == 2


def test_a_permit_in_numbers_covers_normal_noise_by_its_own_numbers(place):
    curator = clinic(place, budget=Budget(epsilon=3, delta="1e-6"))
    with curator.permit("training", epsilon=1, delta="5e-8") as permit:
        permit.charge(ZeroConcentrated(rho="1/100"))  # epsilon 0.72 at a delta of 5e-8
        with pytest.raises(BudgetExceeded, match=r"would have spent epsilon 0\..* of 1 and delta"):
            permit.charge(Approximate(epsilon="1/10", delta="5e-8"))
        permit.charge(Pure(epsilon="1/4"))
    with curator.permit("training", epsilon=1, delta="5e-8") as permit:
        permit.charge(Approximate(epsilon="1/10", delta="5e-8"))
        permit.charge(Pure(epsilon="9/10"))
        with pytest.raises(BudgetExceeded):
            permit.charge(ZeroConcentrated(rho="1e-9"))
    with curator.permit("training", rho="1/50") as permit:
        permit.charge(ZeroConcentrated(rho="1/50"))
        with pytest.raises(BudgetExceeded):
            permit.charge(ZeroConcentrated(rho="1e-9"))


def test_an_error_of_the_code_closes_the_permit(place):
    curator = clinic(place)
    with suppress(ZeroDivisionError), curator.permit("training", epsilon=4) as permit:
        permit.charge(Pure(epsilon=1))
        raise ZeroDivisionError
    assert curator.remaining.epsilon == 9


def test_after_a_crash_the_whole_reservation_stays(place):
    clock = Clock(2026, 3, 5)
    budget = Budget(epsilon=10, renews="daily")
    curator = clinic(place, budget=budget, clock=clock)
    with suppress(Crash), mock.patch.object(Permit, "close"), curator.permit("training", epsilon=4) as permit:
        permit.charge(Pure(epsilon=1))
        raise Crash
    again = clinic(place, budget=budget, clock=clock)
    assert again.remaining.epsilon == 6
    assert again.spent.epsilon == again.spent.lifetime_epsilon == 4
    release = again.ask(COUNT, epsilon=6)
    assert release.label["budget"]["lifetime_epsilon"] == 10
    clock.set(2026, 3, 6)
    assert again.remaining.epsilon == 6


def test_a_permit_that_is_forgotten_stays_reserved(place):
    curator = clinic(place)
    curator.permit("training", epsilon=4)
    assert clinic(place).remaining.epsilon == 6


def test_a_closed_permit_does_nothing(place):
    curator = clinic(place)
    permit = curator.permit("training", epsilon=1)
    permit.close()
    permit.close()
    before = entries(curator)
    for attempt in (lambda: permit.charge(Pure(epsilon=0)), lambda: permit.rows("visits")):
        with pytest.raises(ParameterError, match="closed"):
            attempt()
    assert entries(curator) == before


def test_closing_may_be_tried_again(place):
    curator = clinic(place)
    permit = curator.permit("training", epsilon=1)
    with (
        mock.patch.object(curator.ledger, "decision", side_effect=LedgerUnavailable("not now")),
        pytest.raises(LedgerUnavailable),
    ):
        permit.close()
    assert curator.remaining.epsilon == 9
    permit.close()
    assert curator.remaining.epsilon == 10


def test_a_permit_whose_end_was_recorded_unnoticed_is_closed(place):
    """The commit succeeds, and what comes after it does not."""
    curator = clinic(place)
    permit = curator.permit("training", epsilon=4)
    permit.charge(Pure(epsilon=1))
    with (
        mock.patch.object(curator.ledger, "_after_commit", side_effect=LedgerUnavailable("not now")),
        pytest.raises(LedgerUnavailable),
    ):
        permit.close()
    with pytest.raises(ParameterError, match="closed"):
        permit.charge(Pure(epsilon=1))
    permit.close()
    assert len(entries(curator, "settle")) == 1
    assert curator.remaining.epsilon == 9


def test_a_permit_can_be_closed_after_the_tables_were_amended(place):
    from curator.doors import visits

    curator = clinic(place)
    permit = curator.permit("training", epsilon=4)
    clinic(place).amend(reason="other tables", tables={"visits": visits(person="household")})
    permit.charge(Pure(epsilon=1))
    permit.close()
    assert curator.account().lifetime.epsilon == 1


def test_a_period_that_begins_while_a_permit_is_open(place):
    clock = Clock(2026, 3, 5)
    curator = clinic(place, budget=Budget(epsilon=10, renews="daily"), clock=clock)
    permit = curator.permit("training", epsilon=4)
    permit.charge(Pure(epsilon=1))
    clock.set(2026, 3, 6)
    curator.ask(COUNT, epsilon=6)
    with pytest.raises(BudgetExceeded):
        curator.ask(COUNT, epsilon="0.1")
    permit.charge(Pure(epsilon=3))
    permit.close()
    assert curator.remaining.epsilon == 0
    assert curator.account().lifetime.epsilon == 10


def test_shares_of_analysts_pay_for_permits(place):
    curator = clinic(place, budget=Budget(epsilon=10, per_analyst=Budget(epsilon=2)))
    with pytest.raises(BudgetExceeded, match="share"):
        curator.permit("training", epsilon=3, analyst="ana")
    with curator.permit("training", epsilon=2, analyst="ana") as permit:
        permit.charge(Pure(epsilon=1))
        assert curator.remaining_of("ana").epsilon == 0
        assert curator.remaining_of("bo").epsilon == 2
    assert curator.remaining_of("ana").epsilon == 1


@pytest.mark.parametrize("purpose", ["", "  ", None, 3])
def test_a_permit_has_a_purpose_on_the_record(place, purpose):
    curator = clinic(place)
    with pytest.raises(ParameterError, match="purpose"):
        curator.permit(purpose, epsilon=1)
    curator.permit("readmission model", epsilon=1).close()
    assert entries(curator, "reserve")[0].body["purpose"] == "readmission model"


def test_what_is_no_event_or_no_table_is_refused(place):
    curator = clinic(place)
    with pytest.raises(ParameterError, match="event"):
        Permit(curator, "training", 3)
    permit = curator.permit("training", epsilon=1)
    for event in (None, 3, "Pure", Pure):
        with pytest.raises(ParameterError, match="event"):
            permit.charge(event)
    with pytest.raises(ParameterError, match="relations do not mix"):
        Permit(curator, "training", Pure(epsilon=1, neighbors=REPLACE_PERSON))
    with pytest.raises(ParameterError):
        permit.charge(Pure(epsilon="1/2", neighbors=REPLACE_PERSON))
    for name in ("staff", "", None, 3):
        with pytest.raises(ParameterError, match="table"):
            permit.rows(name)
    assert curator.remaining.epsilon == 9
    assert Fraction(9) == curator.account().filter_of().left["epsilon"]


def test_an_abandoned_permit_is_spent_in_full_and_for_the_last_time(place):
    clock = Clock(2026, 3, 5)
    budget = Budget(epsilon=10, renews="daily", per_analyst=Budget(epsilon=8))
    curator = clinic(place, budget=budget, clock=clock)
    lost = curator.permit("training", epsilon=4, analyst="ana")
    lost.charge(Pure(epsilon=1))
    clock.set(2026, 3, 6)
    again = clinic(place, budget=budget, clock=clock)
    again.abandon("training", reason="the machine went down")
    assert again.remaining.epsilon == 6
    assert again.remaining_of("ana").epsilon == 4
    assert again.account().lifetime.epsilon == 4
    assert again.account().reserved == {}
    assert entries(again, "abandon")[0].body == {"reservation": 3, "reason": "the machine went down"}
    assert again.spent.requests == 1
    clock.set(2026, 3, 7)
    assert again.remaining_of("ana").epsilon == 8
    assert again.account().lifetime.epsilon == 4
    again.ledger.verify()
    again.permit("training", epsilon=4).close()


def test_an_abandoned_permit_frees_nothing_and_hands_out_nothing(place):
    curator = clinic(place)
    with curator.permit("training", epsilon=4) as permit:
        permit.charge(Pure(epsilon=1))
        before = curator.remaining.epsilon
        clinic(place).abandon("training", reason="it hangs")
        assert curator.remaining.epsilon == before == 6
        for attempt in (lambda: permit.charge(Pure(epsilon=1)), lambda: permit.rows("visits")):
            with pytest.raises(ParameterError, match="closed"):
                attempt()
    permit.close()
    assert curator.remaining.epsilon == 6
    assert entries(curator, "settle") == []
    with pytest.raises(BudgetExceeded):
        curator.amend(reason="less", budget=Budget(epsilon=3))


def test_only_one_open_permit_is_abandoned_and_for_a_reason(place):
    curator = clinic(place)
    with pytest.raises(ParameterError, match="names no open permit; allowed: none is open"):
        curator.abandon("training", reason="lost")
    first, second = (curator.permit("training", epsilon=1) for _ in range(2))
    with pytest.raises(ParameterError, match=r"several open permits; allowed: one of 'training' \(entry 3\)"):
        curator.abandon("training", reason="lost")
    for permit in ("model", "", 2, 5, None, True):
        with pytest.raises(ParameterError, match="names no open permit"):
            curator.abandon(permit, reason="lost")
    for reason in ("", " ", None, 3):
        with pytest.raises(ParameterError, match="reason"):
            curator.abandon(3, reason=reason)
    assert len(curator.account().reserved) == 2
    curator.abandon(4, reason="lost")
    with pytest.raises(ParameterError, match="closed"):
        second.rows("visits")
    first.charge(Pure(epsilon=1))
    first.close()
    with pytest.raises(ParameterError, match="names no open permit"):
        curator.abandon(3, reason="lost")
    assert curator.remaining.epsilon == 8
