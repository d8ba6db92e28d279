"""The same door over a ledger in a database that several machines share."""

from __future__ import annotations

import uuid

import pytest

from curator.doors import BY_CITY, COUNT, Clock, entries, usual_visits
from curator.ledger.conftest import postgres as postgres  # noqa: PLC0414  (a fixture)
from discreet.curator import Budget
from discreet.errors import BudgetExceeded, LedgerMismatch
from discreet.front import Curator
from discreet.privacy.events import Pure

DAILY = Budget(epsilon=2, renews="daily")


@pytest.fixture
def opened(postgres):
    name = f"door {uuid.uuid4().hex}"
    curators = []

    def open_again(budget=DAILY, clock=None):
        curators.append(
            Curator(
                {"visits": usual_visits()}, budget=budget, ledger=postgres, name=name, clock=clock or Clock()
            )
        )
        return curators[-1]

    yield open_again
    for curator in curators:
        curator.close()


def test_a_door_over_a_database(opened):
    clock = Clock(2026, 3, 5)
    first, second = opened(clock=clock), opened(clock=clock)
    answer = first.ask(BY_CITY, epsilon=1, analyst="ana")
    assert second.ask(BY_CITY, epsilon=1).columns() == answer.columns()
    with first.permit("training", epsilon=1) as permit:
        with pytest.raises(BudgetExceeded):
            second.ask(COUNT, epsilon="0.1")
        permit.charge(Pure(epsilon="1/4"))
    assert second.remaining.epsilon == 0.75
    clock.set(2026, 3, 6)
    second.ask(COUNT, epsilon=2)
    with pytest.raises(BudgetExceeded, match="already spent"):
        second.amend(reason="more", budget=Budget(epsilon=3))
    second.amend(reason="more", budget=Budget(epsilon="3.25"))
    assert first.remaining.epsilon == 0
    with pytest.raises(LedgerMismatch):
        opened()
    third = opened(budget=Budget(epsilon="3.25"))
    kinds = "open answer charge answer reserve use settle renew charge answer amend"
    assert [entry.kind for entry in entries(third)] == kinds.split()
    third.ledger.verify()
