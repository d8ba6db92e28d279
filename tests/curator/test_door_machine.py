"""A door under everything that may happen to it agrees with a model of a few lines."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from curator.door_model import Model, Refused
from curator.doors import COUNT, computing, usual_visits
from curator.ledger.backends import FileBackend, quick_directory
from discreet.curator import Budget
from discreet.curator import door as door_module
from discreet.curator.budget.entries import CHARGE
from discreet.errors import BudgetExceeded, LedgerTampered
from discreet.front import Curator
from discreet.privacy.events import Pure
from discreet.queries import Offer, build_request, parse
from effort import examples

TABLES = {"visits": usual_visits()}
AMOUNTS = st.integers(1, 8).map(lambda n: Fraction(n, 4))
QUESTIONS = st.integers(0, 4)
ANALYSTS = st.sampled_from(["ana", "bo"])
CAPS = st.integers(0, 40).map(lambda n: Fraction(n, 4))
RENEWALS = st.sampled_from([None, "daily", "weekly", "monthly"])
MOMENTS = st.datetimes(datetime(2026, 1, 25), datetime(2026, 3, 10), timezones=st.just(UTC))
STAGES = ("before the commit", "charged", "computed", "stored")


@cache
def request(question, amount):
    query = parse(f"{COUNT} AND age < {question}", TABLES)
    return build_request(query, TABLES, Offer(epsilon=amount))


class Crash(BaseException):
    """The process ends here."""


class Machine(RuleBasedStateMachine):
    """The same steps for a door and for the model."""

    def __init__(self):
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="discreet-", dir=quick_directory()))
        self.backend = FileBackend(str(self.directory / "clinic.ledger"))
        self.clock = datetime(2026, 2, 1, tzinfo=UTC)
        self.permits, self.copies, self.open_doors = {}, [], []
        self.curator = None

    @property
    def now(self):
        return self.clock.isoformat(timespec="microseconds")[:26] + "Z"

    @property
    def budget(self):
        model = self.model
        return Budget(epsilon=model.cap, per_analyst=Budget(epsilon=model.share), renews=model.renews)

    def open(self):
        return Curator(
            TABLES,
            budget=self.budget,
            ledger=self.backend.location,
            anchor=self.directory / "anchor",
            clock=lambda: self.clock,
        )

    def both(self, real, modeled):
        """Take a step on both sides; return whether it was admitted."""
        try:
            modeled()
            admitted = True
        except Refused:
            admitted = False
        if admitted:
            real()
        else:
            with pytest.raises(BudgetExceeded):
                real()
        return admitted

    @initialize(cap=CAPS, share=CAPS, renews=RENEWALS)
    def start(self, cap, share, renews):
        self.model = Model(cap, share, renews, self.now)
        self.curator = self.open()

    @rule(question=QUESTIONS, amount=AMOUNTS, analyst=ANALYSTS)
    def ask(self, question, amount, analyst):
        key, found = (question, amount), []

        def real():
            with computing():
                release = self.curator.answer(request(*key), analyst=analyst)
            found.append(json.dumps(release.columns()))

        if self.both(real, lambda: self.model.charge(key, analyst, amount, self.now)):
            assert found[0] == self.model.answer(key, found[0], self.now)

    @rule(question=QUESTIONS, amount=AMOUNTS, analyst=ANALYSTS, stage=st.sampled_from(STAGES))
    def ask_and_crash(self, question, amount, analyst, stage):
        key = (question, amount)
        if stage == "before the commit" and key in self.model.charged:
            return  # there is no such commit any more
        with computing(), self.crashing(stage), suppress(Crash, BudgetExceeded):
            self.curator.answer(request(*key), analyst=analyst)
        if stage == "before the commit":
            self.model.begin(self.now)
        else:
            with suppress(Refused):
                self.model.charge(key, analyst, amount, self.now)
        if stage == "stored" and key in self.model.charged and key not in self.model.answers:
            charge = self.curator.ledger.find(CHARGE, self.key(key))
            draws = door_module.unpack(request(*key), self.curator.ledger.answer(charge))
            release = door_module.finish(request(*key), draws, {})
            self.model.answer(key, json.dumps(release.columns()), self.now)
        self.permits.clear()
        self.curator = self.open()

    def key(self, key):
        return request(*key).digest(self.curator._secret, door_module.declare(TABLES))

    def crashing(self, stage):
        """Crash inside the transaction of a charge, or right after a stage."""

        def crash(*arguments, **options):
            raise Crash

        if stage == "before the commit":
            decision = self.curator.ledger.decision

            def crashing_decision(kind, *arguments, **options):
                self.curator.ledger._reached = lambda point: (kind, point) == (CHARGE, "appended") and crash()
                return decision(kind, *arguments, **options)

            return mock.patch.object(self.curator.ledger, "decision", crashing_decision)
        name = {"charged": "compute", "computed": "pack_several", "stored": "assembled"}[stage]
        return mock.patch.object(door_module, name, crash)

    @rule(amount=AMOUNTS, analyst=ANALYSTS)
    def reserve(self, amount, analyst):
        made = []
        place = self.curator.ledger.anchor().sequence + 1
        if self.model.period_of(max(self.model.time, self.now)) > self.model.period:
            place += 1  # the renewal comes first
        self.both(
            lambda: made.append(self.curator.permit("training", epsilon=amount, analyst=analyst)),
            lambda: self.model.reserve(place, analyst, amount, self.now),
        )
        if made:
            self.permits[place] = made[0]

    @rule(amount=AMOUNTS, number=st.integers(0, 9))
    def use(self, amount, number):
        if self.permits:
            place = sorted(self.permits)[number % len(self.permits)]
            self.both(
                lambda: self.permits[place].charge(Pure(epsilon=amount)),
                lambda: self.model.use(place, amount, self.now),
            )

    @rule(number=st.integers(0, 9))
    def close(self, number):
        if self.permits:
            place = sorted(self.permits)[number % len(self.permits)]
            self.permits.pop(place).close()
            self.model.settle(place, self.now)

    @rule(cap=CAPS, share=CAPS, renews=RENEWALS)
    def amend(self, cap, share, renews):
        budget = Budget(epsilon=cap, per_analyst=Budget(epsilon=share), renews=renews)
        self.both(
            lambda: self.curator.amend(reason="asked for", budget=budget),
            lambda: self.model.amend(cap, share, renews, self.now),
        )

    @rule(moment=MOMENTS)
    def set_the_clock(self, moment):
        self.clock = moment

    @rule()
    def crash_and_open_again(self):
        self.permits.clear()
        self.curator = self.open()

    @rule()
    def copy(self):
        self.copies.append((self.curator.ledger.anchor(), self.backend.backup()))

    @rule(number=st.integers(0, 9))
    def put_an_old_copy_back(self, number):
        head, latest = self.curator.ledger.anchor(), self.backend.backup()
        copies = [copy for anchor, copy in self.copies if anchor != head]
        if copies:
            self.backend.restore(copies[number % len(copies)])
            for attempt in (
                self.open,
                self.curator.account,
                lambda: self.curator.answer(request(9, Fraction(1, 4))),
                lambda: self.curator.permit("training", epsilon="1/4"),
            ):
                with pytest.raises(LedgerTampered), computing():
                    attempt()
            self.backend.restore(latest)

    @invariant()
    def agrees(self):
        if self.curator is None:
            return
        account, model = self.curator.ledger.state(), self.model
        assert account.period == model.period
        assert account.caps == self.budget
        assert account.whole.left["epsilon"] >= 0
        assert account.filter_of().left["epsilon"] == model.cap - model.total()
        for analyst in ("ana", "bo"):
            assert account.filter_of(analyst).left["epsilon"] == model.share - model.total(analyst)
        assert account.lifetime.epsilon == sum(amount for _, amount, _ in model.ever)
        assert account.charges == len(model.ever)
        assert set(account.reserved) == set(model.reserved)
        assert self.curator.ledger.time() == max(model.time, self.now)

    def teardown(self):
        if self.curator is not None:
            assert self.curator.ledger.verify().answers == len(self.model.answers) + 1
        shutil.rmtree(self.directory)


def check(full, steps):
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples(full),
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.hypothesis
def test_a_door_agrees_with_the_model():
    check(100, 30)


@pytest.mark.hypothesis
@pytest.mark.slow
def test_a_door_agrees_with_the_model_for_long():
    check(160, 50)
