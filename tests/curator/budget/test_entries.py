"""Entries are believed only as far as they keep the rules under which they were written."""

from __future__ import annotations

import json

import pytest

from curator.accounts import TABLES, Book
from discreet.curator import Budget
from discreet.errors import BudgetExceeded, LedgerError, LedgerMismatch, LedgerTampered
from discreet.privacy.events import Pure
from discreet.privacy.neighbors import REPLACE_PERSON

EVENT = json.loads(Pure(epsilon=1).to_json())


@pytest.fixture
def book():
    return Book(Budget(epsilon=3, renews="daily"))


def test_an_unknown_kind_is_not_passed_over(book):
    """A later version may spend in a way that this one does not know."""
    with pytest.raises(LedgerMismatch, match="later version"):
        book.add("lend", "2026-03-05", event=EVENT)


def test_answers_change_nothing(book):
    before = book.account
    book.add("answer", "2026-03-05", charge=1)
    assert book.account is before


def test_another_format_is_not_read():
    with pytest.raises(LedgerMismatch, match="another version"):
        Book(Budget(epsilon=1), format=2)


def test_a_ledger_is_opened_once(book):
    with pytest.raises(LedgerTampered, match="opened before"):
        book.add("open", "2026-03-05", format=1, tables=TABLES, budget=Budget(epsilon=9).to_body())


@pytest.mark.parametrize(
    ("period", "day"),
    [
        ("2026-03-05", "2026-03-05"),  # it has begun already
        ("2026-03-04", "2026-03-05"),
        ("2026-03-07", "2026-03-06"),  # it has not begun
        ("2026-03-06", "2026-03-07"),  # a later one has begun
        ("", "2026-03-06"),
        (None, "2026-03-06"),
        (20260306, "2026-03-06"),
    ],
)
def test_only_the_period_that_has_begun_is_renewed(book, period, day):
    book.charge(Pure(epsilon=3))
    with pytest.raises(LedgerTampered, match="not begun"):
        book.renew(period, day=day)
    assert book.left() == 0
    book.renew("2026-03-06")
    assert book.left() == 3


def test_a_charge_that_does_not_fit_is_none(book):
    with pytest.raises(BudgetExceeded):
        book.charge(Pure(epsilon=4))


def test_a_charge_before_the_declaration_is_none():
    book = object.__new__(Book)
    from discreet.curator.budget.account import Account

    book.account, book.sequence = Account(), 0
    with pytest.raises(LedgerError):
        book.charge(Pure(epsilon=0))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("charge", {}),
        ("charge", {"analyst": ""}),
        ("charge", {"analyst": "", "event": {}}),
        ("charge", {"analyst": "", "event": {"event": "Free"}}),
        ("charge", {"analyst": "", "event": {"event": "Pure", "epsilon": "-1"}}),
        ("charge", {"analyst": "", "event": json.loads(Pure(epsilon=1, neighbors=REPLACE_PERSON).to_json())}),
        ("reserve", {"analyst": ""}),
        ("reserve", {"analyst": "", "event": json.loads(Pure(epsilon=1).to_json())}),
        ("abandon", {"reservation": 77, "reason": "lost"}),
        ("abandon", {"reason": "lost"}),
        ("use", {"reservation": 7, "event": EVENT}),
        ("use", {"event": EVENT}),
        ("settle", {"reservation": 7}),
        ("settle", {"reservation": "1"}),
        ("settle", {}),
        ("amend", {}),
        ("amend", {"tables": TABLES, "budget": {}}),
        ("amend", {"tables": None, "budget": Budget(epsilon=1).to_body()}),
        ("renew", {}),
    ],
)
def test_what_could_not_have_been_recorded_is_no_entry(book, kind, body):
    with pytest.raises(LedgerTampered):
        book.add(kind, "2026-03-05", **body)


def test_a_reservation_is_settled_once(book):
    place = book.reserve(Pure(epsilon=1))
    book.use(place, Pure(epsilon=1))
    book.settle(place)
    for again in (lambda: book.settle(place), lambda: book.use(place, Pure(epsilon=0))):
        with pytest.raises(LedgerTampered):
            again()
    assert book.left() == 2


def test_no_more_is_used_than_was_reserved(book):
    place = book.reserve(Pure(epsilon=1))
    book.use(place, Pure(epsilon="3/5"))
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.use(place, Pure(epsilon="1/2"))
    book.use(place, Pure(epsilon="2/5"))
    book.settle(place)
    assert book.left() == 2


def amended(book, **more):
    caps = Budget(epsilon=9, renews="daily").to_body()
    return book.add("amend", "2026-03-05", reason="test", tables=TABLES, budget=caps, **more)


@pytest.mark.parametrize("agreed", [None, [], ["ana"], ["ana", "ana"]])
def test_S16_where_two_owners_must_agree_an_amendment_of_one_is_no_entry(book, agreed):
    """Whoever writes one past the rule has a ledger that nobody can open."""
    more = {} if agreed is None else {"agreed": agreed}
    amended(book, **more)  # the control: before the rule holds, one is enough
    amended(book, two_owners=True)
    with pytest.raises(LedgerTampered, match="two owners"):
        amended(book, **more)
    with pytest.raises(LedgerTampered, match="two owners"):
        amended(book, **more, two_owners=False)
    amended(book, agreed=["ana", "bea"])
    assert book.account.two_owners
    amended(book, agreed=["ana", "bea"], two_owners=False)
    amended(book, **more)


def test_S16_renewals_and_charges_keep_the_rule(book):
    amended(book, two_owners=True)
    book.charge(Pure(epsilon=1))
    book.renew("2026-03-06", day="2026-03-06")
    assert book.account.two_owners
