"""The simplest budget: a number of grants. What the ledger is tested with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.curator.ledger import Entry, Ledger
from discreet.errors import BudgetExceeded


@dataclass(frozen=True)
class Count:
    """What was granted in this period and ever, and how much may be granted in a period."""

    cap: int
    spent: int = 0
    lifetime: int = 0
    answers: int = 0
    month: str = ""


def fold(count: Count, entry: Entry) -> Count:
    if entry.kind == "charge":
        amount = entry.body["amount"]
        return replace(count, spent=count.spent + amount, lifetime=count.lifetime + amount)
    if entry.kind == "renew":
        return replace(count, spent=0, month=entry.time[:7])
    if entry.kind == "amend":
        return replace(count, cap=entry.body["cap"])
    if entry.kind == "answer":
        return replace(count, answers=count.answers + 1)
    return count


def charging(amount: int = 1):
    """A rule that grants an amount if it fits."""

    def rule(count: Count, time: str) -> dict[str, int]:
        if count.spent + amount > count.cap:
            raise BudgetExceeded("no more is left")
        return {"amount": amount}

    return rule


def renewing(count: Count, time: str) -> dict[str, int]:
    """A rule that renews once a month."""
    if time[:7] <= count.month:
        raise BudgetExceeded("this month was renewed already")
    return {}


def counting(store, cap: int = 10, **options) -> Ledger[Count]:
    return Ledger(store, fold, Count(cap), **options)
