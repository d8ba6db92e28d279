"""Caps renew when a period begins, once, whatever clocks and other processes do."""

from __future__ import annotations

from unittest import mock

import pytest

from curator.doors import (
    BY_CITY,
    COUNT,
    Clock,
    clinic,
    entries,
)
from discreet.curator import Budget
from discreet.curator.budget.entries import fold
from discreet.errors import (
    BudgetExceeded,
)


def renewing(place, clock, epsilon=1, **options):
    return clinic(place, budget=Budget(epsilon=epsilon, renews="daily"), clock=clock, **options)


def test_a_new_day_renews_the_caps_on_the_record(place):
    clock = Clock(2026, 3, 5)
    curator = renewing(place, clock)
    curator.ask(COUNT, epsilon=1)
    with pytest.raises(BudgetExceeded):
        curator.ask(BY_CITY, epsilon="0.1")
    clock.set(2026, 3, 5, 23, 59, 59, 999999)
    with pytest.raises(BudgetExceeded):
        curator.ask(BY_CITY, epsilon="0.1")
    clock.set(2026, 3, 6)
    assert curator.remaining.epsilon == 1
    assert entries(curator, "renew") == []  # looking renews nothing
    curator.ask(BY_CITY, epsilon=1)
    assert [entry.body for entry in entries(curator, "renew")] == [{"period": "2026-03-06"}]
    assert curator.spent.epsilon == 1
    assert curator.spent.lifetime_epsilon == 2


def test_periods_that_were_slept_through_are_renewed_once(place):
    clock = Clock(2026, 3, 5)
    curator = renewing(place, clock)
    curator.ask(COUNT, epsilon=1)
    clock.set(2026, 12, 31)
    curator.ask(BY_CITY, epsilon="0.6")
    with pytest.raises(BudgetExceeded):
        curator.ask(BY_CITY, epsilon="0.5")
    assert len(entries(curator, "renew")) == 1


def test_a_clock_that_goes_back_renews_nothing(place):
    clock = Clock(2026, 3, 5)
    curator = renewing(place, clock)
    curator.ask(COUNT, epsilon=1)
    for moment in ((2026, 3, 4), (2025, 1, 1), (1970, 1, 1), (2026, 3, 5)):
        clock.set(*moment)
        for door in (curator, renewing(place, clock)):
            assert door.remaining.epsilon == 0
            with pytest.raises(BudgetExceeded):
                door.ask(BY_CITY, epsilon="0.1")
    clock.set(2026, 3, 6)
    curator.ask(BY_CITY, epsilon="0.5")
    clock.set(2026, 3, 4)
    curator.ask(COUNT, epsilon="0.5")
    clock.set(2026, 3, 6)
    with pytest.raises(BudgetExceeded):
        curator.ask(COUNT, epsilon="0.1")
    assert len(entries(curator, "renew")) == 1


def test_a_period_that_begins_between_preview_and_charge(place):
    clock = Clock(2026, 3, 5)
    curator = renewing(place, clock)
    curator.ask(COUNT, epsilon=1)
    assert curator.preview(BY_CITY, epsilon=1).fits == 0
    clock.set(2026, 3, 6)
    curator.ask(BY_CITY, epsilon=1)
    clock.set(2026, 3, 7)
    assert curator.preview(COUNT, epsilon="0.9").fits == 1
    curator.ask(COUNT, epsilon="0.9")
    assert curator.preview(COUNT, epsilon="0.8").fits == 0


def test_a_slow_process_does_not_renew_a_day_that_is_over(place):
    """It saw the sixth begin; before it renews, another process spends the whole of the seventh."""
    slow, quick = Clock(2026, 3, 6), Clock(2026, 3, 7)
    first = renewing(place, Clock(2026, 3, 5))
    first.ask(COUNT, epsilon=1)
    behind, ahead = renewing(place, slow), renewing(place, quick)
    original = behind._renew

    def overtaken(period):
        assert period == "2026-03-06"
        ahead.ask(BY_CITY, epsilon=1)
        original(period)

    with mock.patch.object(behind, "_renew", overtaken), pytest.raises(BudgetExceeded):
        behind.ask(COUNT, epsilon="0.5")
    assert [entry.body["period"] for entry in entries(ahead, "renew")] == ["2026-03-07"]
    for curator in (behind, ahead):
        assert curator.remaining.epsilon == 0


def test_two_processes_renew_a_day_once(place):
    clock = Clock(2026, 3, 5)
    first, second = renewing(place, clock), renewing(place, clock)
    first.ask(COUNT, epsilon=1)
    clock.set(2026, 3, 6)
    original = first._renew

    def overtaken(period):
        second.ask(BY_CITY, epsilon="0.6")
        original(period)

    with mock.patch.object(first, "_renew", overtaken), pytest.raises(BudgetExceeded):
        first.ask(COUNT, epsilon="0.5")
    assert len(entries(first, "renew")) == 1
    assert first.remaining.epsilon == pytest.approx(0.4)


def test_an_amendment_counts_in_the_period_that_has_begun(place):
    clock = Clock(2026, 3, 5)
    curator = renewing(place, clock)
    curator.ask(COUNT, epsilon=1)
    with pytest.raises(BudgetExceeded):
        curator.amend(reason="less", budget=Budget(epsilon="1/2", renews="daily"))
    clock.set(2026, 3, 6)
    curator.amend(reason="less", budget=Budget(epsilon="1/2", renews="daily"))
    assert [entry.kind for entry in entries(curator)[-2:]] == ["renew", "amend"]
    assert curator.remaining.epsilon == 0.5


def test_an_end_of_renewals_counts_all_that_was_ever_spent(place):
    clock = Clock(2026, 3, 5)
    curator = renewing(place, clock)
    curator.ask(COUNT, epsilon=1)
    clock.set(2026, 3, 6)
    curator.ask(BY_CITY, epsilon=1)
    with pytest.raises(BudgetExceeded):
        curator.amend(reason="for good", budget=Budget(epsilon="1.9"))
    curator.amend(reason="for good", budget=Budget(epsilon=2))
    assert curator.remaining.epsilon == 0


def test_the_ledger_is_folded_by_the_same_rules_from_the_start(place):
    clock = Clock(2026, 3, 5)
    curator = renewing(place, clock, epsilon=2)
    curator.ask(COUNT, epsilon=1, analyst="ana")
    clock.set(2026, 3, 6)
    with curator.permit("training", epsilon=1) as permit:
        permit.charge(curator.request(COUNT, epsilon=1).event)
        curator.ask(BY_CITY, epsilon="0.3")
    curator.amend(reason="more", budget=Budget(epsilon=3, renews="monthly"))
    again = curator.ledger.replay(fold, type(curator.account())())
    assert again == curator.ledger.state()
