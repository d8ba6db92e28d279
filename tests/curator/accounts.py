"""Accounts folded from entries that tests make up."""

from __future__ import annotations

from discreet.curator.budget.account import Account
from discreet.curator.budget.budget import Budget
from discreet.curator.budget.entries import (
    AMEND,
    CHARGE,
    ENTRY_FORMAT,
    OPEN,
    RENEW,
    RESERVE,
    SETTLE,
    USE,
    fold,
)
from discreet.curator.ledger.entry import GENESIS, seal

TABLES = {"visits": {"person": "patient"}}


def at(day, hour=12):
    return f"{day}T{hour:02}:00:00.000000Z"


class Book:
    """An account, and the entries that are added to it one after another."""

    def __init__(self, budget, *, day="2026-03-05", tables=TABLES, format=ENTRY_FORMAT):
        self.account, self.sequence = Account(), 0
        self.add(OPEN, day, format=format, tables=tables, budget=budget.to_body())

    def add(self, kind, day, **body):
        """Fold one more entry; the account stays as it was if that raises."""
        entry = seal(
            sequence=self.sequence + 1, kind=kind, key=None, time=at(day), body=body, previous=GENESIS
        )
        self.account = fold(self.account, entry)
        self.sequence += 1
        return self.sequence

    def charge(self, event, *, day="2026-03-05", analyst=""):
        return self.add(CHARGE, day, analyst=analyst, event=event.to_object(), plan={})

    def reserve(self, event, *, day="2026-03-05", analyst=""):
        return self.add(RESERVE, day, analyst=analyst, event=event.to_object(), purpose="test")

    def use(self, place, event, *, day="2026-03-05"):
        return self.add(USE, day, reservation=place, event=event.to_object())

    def settle(self, place, *, day="2026-03-05"):
        return self.add(SETTLE, day, reservation=place)

    def renew(self, period, *, day=None):
        return self.add(RENEW, day or period, period=period)

    def amend(self, budget: Budget, *, day="2026-03-05"):
        return self.add(AMEND, day, reason="test", tables=TABLES, budget=budget.to_body())

    def left(self, analyst=None):
        """What is left of the first limit, reservations counted."""
        return next(iter(self.account.filter_of(analyst).left.values()))
