"""A ledger under everything that may happen to it agrees with twenty lines."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from curator.ledger.backends import FileBackend, PostgreSQLBackend, quick_directory
from curator.ledger.counting import Count, charging, counting, renewing
from discreet.errors import BudgetExceeded, LedgerTampered
from effort import examples

REFUSED = "refused"
KEYS = st.integers(0, 9).map("request {}".format)
AMOUNTS = st.integers(0, 6)
MOMENTS = st.datetimes(datetime(2025, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))


class Model:
    """What a ledger of grants does, without files, processes or hashes."""

    def __init__(self, cap):
        self.cap, self.spent, self.lifetime, self.month = cap, 0, 0, ""
        self.time, self.amounts, self.answers = "", {}, {}

    def charge(self, key, amount, time):
        if key not in self.amounts:
            if self.spent + amount > self.cap:
                return REFUSED
            self.amounts[key], self.time = amount, max(self.time, time)
            self.spent, self.lifetime = self.spent + amount, self.lifetime + amount
        return self.amounts[key]

    def renew(self, time):
        time = max(self.time, time)
        if time[:7] <= self.month:
            return REFUSED
        self.spent, self.month, self.time = 0, time[:7], time
        return None

    def answer(self, key, content, time):
        self.time = self.time if key in self.answers else max(self.time, time)
        return self.answers.setdefault(key, content)


class Crash(BaseException):
    """The process ends here."""


class Machine(RuleBasedStateMachine):
    """The same steps for the ledger and for the model."""

    def __init__(self, postgres=None):
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="discreet-", dir=quick_directory()))
        self.backend = (
            PostgreSQLBackend(postgres, f"machine {uuid.uuid4().hex}")
            if postgres
            else FileBackend(str(self.directory / "clinic.ledger"))
        )
        self.clock = datetime(2026, 1, 1, tzinfo=UTC)
        self.failing = None
        self.copies = []

    def open(self):
        if hasattr(self, "ledger"):
            self.ledger.close()
        anchor = self.directory / "anchor"
        return counting(
            self.backend.open(), 10, anchor=anchor, clock=lambda: self.clock, reached=self.reached
        )

    def reached(self, point):
        if point == self.failing:
            raise Crash

    @property
    def now(self):
        return self.clock.isoformat(timespec="microseconds")[:26] + "Z"

    @initialize()
    def start(self):
        self.ledger, self.model = self.open(), Model(10)

    @rule(key=KEYS, amount=AMOUNTS)
    def charge(self, key, amount):
        expected = self.model.charge(key, amount, self.now)
        try:
            got = self.ledger.decide("charge", charging(amount), key=key).body["amount"]
        except BudgetExceeded:
            got = REFUSED
        assert got == expected

    @rule(
        key=KEYS,
        amount=AMOUNTS,
        point=st.sampled_from(["locked", "decided", "appended", "committed", "anchored"]),
    )
    def charge_and_crash(self, key, amount, point):
        self.failing = point
        with suppress(BudgetExceeded, Crash):
            self.ledger.decide("charge", charging(amount), key=key)
        self.failing = None
        if point in {"committed", "anchored"}:
            self.model.charge(key, amount, self.now)
        self.ledger = self.open()

    @rule(key=KEYS)
    def look_for(self, key):
        assert (self.ledger.find("charge", key) is None) == (key not in self.model.amounts)

    @rule(number=st.integers(0, 9), content=st.binary(min_size=1, max_size=2))
    def answer(self, number, content):
        if self.model.amounts:
            key = sorted(self.model.amounts)[number % len(self.model.amounts)]
            charge = self.ledger.find("charge", key)
            assert self.ledger.answer(charge) == self.model.answers.get(key)
            assert self.ledger.keep_answer(charge, content) == self.model.answer(key, content, self.now)

    @rule()
    def renew(self):
        expected = self.model.renew(self.now)
        try:
            got = self.ledger.decide("renew", renewing) and None
        except BudgetExceeded:
            got = REFUSED
        assert got == expected

    @rule(cap=st.integers(0, 40))
    def set_the_cap(self, cap):
        self.ledger.decide("amend", lambda count, time: {"cap": cap})
        self.model.cap, self.model.time = cap, max(self.model.time, self.now)

    @rule(moment=MOMENTS)
    def set_the_clock(self, moment):
        self.clock = moment

    @rule()
    def open_again(self):
        self.ledger = self.open()

    @rule()
    def copy(self):
        self.copies.append((self.ledger.anchor(), self.backend.backup()))

    @rule(choice=st.randoms(use_true_random=False))
    def put_an_old_copy_back(self, choice):
        head, latest = self.ledger.anchor(), self.backend.backup()
        old, copy = choice.choice([*self.copies, (head, latest)])
        self.backend.restore(copy)
        if old == head:
            self.ledger.verify(head)
        else:
            for attempt in (
                self.open,
                self.ledger.state,
                lambda: self.ledger.verify(head),
                self.charge_anything,
            ):
                with pytest.raises(LedgerTampered):
                    attempt()
        self.backend.restore(latest)

    def charge_anything(self):
        self.ledger.decide("charge", charging(0), key="new")

    @invariant()
    def agrees(self):
        if not hasattr(self, "ledger"):
            return
        model = self.model
        expected = Count(model.cap, model.spent, model.lifetime, len(model.answers), model.month)
        assert self.ledger.state() == expected

    def teardown(self):
        if hasattr(self, "ledger"):
            report = self.ledger.verify()
            assert report.answers == len(self.model.answers)
            assert (report.last or "") == self.model.time
            assert self.ledger.replay(lambda total, entry: total + entry.body.get("amount", 0), 0) == (
                self.model.lifetime
            )
            self.ledger.close()
        shutil.rmtree(self.directory)


def check(machine, full):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(full),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.hypothesis
def test_the_file_agrees_with_the_model():
    check(Machine, 100)


@pytest.mark.hypothesis
def test_postgresql_agrees_with_the_model(postgres):
    check(lambda: Machine(postgres), 15)
