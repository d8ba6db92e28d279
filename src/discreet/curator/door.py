"""The request path: the only place where private data and noise meet, after the ledger was charged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np

from discreet.curator.budget.account import Account
from discreet.curator.budget.budget import Budget
from discreet.curator.budget.charge_log import log_charge
from discreet.curator.budget.checks import check_analyst, checked_budget, checked_ledger
from discreet.curator.budget.entries import AMEND, CHARGE, ENTRY_FORMAT, OPEN, RENEW, SETTLE, fold
from discreet.curator.budget.renewal_calendar import PeriodBegan
from discreet.curator.ledger import Body, Decided, Entry, Ledger, Store, open_store
from discreet.curator.release.about import AnyRequest
from discreet.curator.release.averaging import average_draws, check_combined, earlier_charges
from discreet.curator.release.fit_release import FitRelease
from discreet.curator.release.label import label_of
from discreet.curator.release.preview import Preview, preview
from discreet.curator.release.release import (
    Release,
    are_private,
    assembled,
    finish,
    pack_several,
    unpack,
    unpack_several,
)
from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.curator.request.fit_request import FitRequest
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import Draw, Request
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.curator.table_records import (
    DeclaredRecord,
    amendment,
    check_current,
    check_opened,
    check_relations,
    checked_tables,
    declare,
    declared_keys,
    recorded,
)
from discreet.data import Table, compute, fresh_salt, outline
from discreet.data.facts.question_tables import QuestionTables
from discreet.data.language.declarations import KeyValue
from discreet.errors import DiscreetError, EngineFailed, ParameterError
from discreet.noise.entropy import current
from discreet.privacy.rational import whole
from discreet.records import dataclass

__all__ = ["Door"]

_Drawn: TypeAlias = StatisticRequest | TabulatedRequest

_ROWS = 1000
_MOST_ROWS = 10**18
_OPENED = "opened"


class Door:
    """Tables behind a budget and a ledger.

    Guarantee
    ---------
    All answers that ever leave, however analysts choose their questions, keep what `Budget` promises, for
    the unit of each table, provided the ledger is not replaced and the declarations were not taken from
    the data. Every answer was charged, durably, before any data was read; a charge is never refunded
    (proof: door).

    Parameters
    ----------
    tables : mapping of names to Table
        The private tables. A person is the same person in all of them.
    budget : Budget
        The caps. Required.
    ledger : str, Path or Store
        A file, or ``postgresql://…`` with a `name`. Required.
    name : str, optional
        The name of the ledger in a database.
    anchor : str or Path, optional
        A file outside the ledger that remembers how long it was, to detect that an old copy was restored.
    clock : callable, optional
        Returns the current time, aware of its zone.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        *,
        budget: Budget | None = None,
        ledger: str | Path | Store | None = None,
        name: str | None = None,
        anchor: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._tables = checked_tables(tables)
        check_relations(self._tables, budget := checked_budget(budget))
        place = checked_ledger(ledger)
        store = open_store(place, name=name) if isinstance(place, str | Path) else place
        self.ledger = Ledger(store, fold, Account(), anchor=anchor, clock=clock)
        self._secret = self._open(budget)
        self.charges_made = 0  # by this curator: what others paid for, or was paid before, is not among them
        self._neighbors = budget.neighbors  # no amendment changes the relation

    def _open(self, budget: Budget) -> bytes:
        """Declare, if the ledger is new; else check that it declares the same. Return the ledger's secret."""
        declared = declare(self._tables)
        body: Body = {"format": ENTRY_FORMAT, "tables": declared, "budget": budget.to_body()}
        opened = self.ledger.find(OPEN, _OPENED)
        if opened is None:
            opened = self.ledger.decide(OPEN, lambda account, time: body, key=_OPENED)
        check_opened(self.ledger.state(), declared, budget)
        secret = self.ledger.answer(opened)
        if secret is None:
            secret = self.ledger.keep_answer(opened, current().bits(256).to_bytes(32, "big"))
        return secret

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables, by name."""
        return dict(self._tables)

    @property
    def budget(self) -> Budget:
        """The caps that hold now."""
        return self.ledger.state().caps

    def account(self) -> Account:
        """Return what was spent so far; a new period starts from zero."""
        account = self.ledger.state()
        due = account.due(self.ledger.time())
        return account if due is None else account.renewed(due)

    def preview_request(
        self,
        request: Request | CountedKeysRequest | CompoundRequest | _Drawn | FitRequest,
        *,
        analyst: str = "",
        rows: int = _ROWS,
        chosen: Sequence[KeyRequest] = (),
    ) -> Preview:
        """Return what a request would cost and how wrong its answer would be. Spends nothing.

        With `chosen`, its keys are chosen first, and their cost is included.
        """
        check_analyst(analyst)
        rows = whole(rows, "rows", least=1, most=_MOST_ROWS)
        declared = declare(tables := _checked(request, self._tables))
        check_current(account := self.account(), declared)
        charge = self.ledger.find(CHARGE, request.digest(self._secret, declared))
        answered = charge is not None and all(self.is_charged(one) for one in chosen)
        return preview(request, account, analyst, rows, tables, answered=answered, chosen=chosen)

    def is_charged(self, request: AnyRequest) -> bool:
        """Return whether a request was charged before, so that asking again costs nothing."""
        declared = declare(_checked(request, self._tables))
        return self.ledger.find(CHARGE, request.digest(self._secret, declared)) is not None

    def keys_chosen(self, request: KeyRequest) -> tuple[KeyValue, ...] | None:
        """Return the keys that a request chose before, if it did. Charges and computes nothing."""
        content = self.stored(request)
        return None if content is None else request.read(content).values

    def stored(self, request: AnyRequest) -> bytes | None:
        """Return what is stored of a request that was answered, packed. Charges and computes nothing."""
        return self.ledger.look(CHARGE, request.digest(self._secret, declare(self._tables))).answer

    def choose_keys(self, request: KeyRequest, *, analyst: str = "") -> Release:
        """Charge a request for keys, count, choose, store the choice and return it, perhaps with counts.

        The same request returns the stored choice, at no cost. It raises what `answer` raises.
        """
        return self._answer_drawn(request, analyst)

    def _answer_drawn(self, request: KeyRequest | _Drawn, analyst: str) -> Release:
        """Answer a request that draws for itself."""
        paid = self._charge_and_fetch(request, analyst, request.draw)
        keys, outputs, private = request.opened(paid.content)
        label = label_of(request, paid.tables, paid.account, paid.charge, analyst, private=private)
        return Release(request=request, keys=keys, outputs=outputs, label=label, stored=paid.stored)

    def answer_fit(self, request: FitRequest, *, analyst: str = "") -> FitRelease:
        """Charge a fit, read its rows, draw, store what was drawn and return it. It raises as `answer` does.

        The same fit on the same version of the data returns what is stored, at no cost.
        """
        paid = self._charge_and_fetch(request, analyst, request.draw)
        drawn, private = request.drawn_of(paid.content)
        label = label_of(request, paid.tables, paid.account, paid.charge, analyst, private=private)
        return FitRelease(request=request, drawn=drawn, label=label, stored=paid.stored)

    def answer(self, request: Request | CompoundRequest | _Drawn, *, analyst: str = "") -> Release:
        """Charge a request, compute it, add noise, store the answer and return it.

        The same request on the same version of the data returns the stored answer, at no cost.

        Raises
        ------
        BudgetExceeded
            If it does not fit. Nothing was charged and no data was read.
        LedgerMismatch
            If the tables were amended by another process since this curator was opened.
        EngineFailed
            If the engine did not finish. The charge stays; asking again computes without a second one.
        """
        if isinstance(request, _Drawn):
            return self._answer_drawn(request, analyst)
        if not isinstance(request, Request | CompoundRequest):
            raise ParameterError("request", "is not a request for values", "a Request")

        def draw(tables: Mapping[str, Table]) -> bytes:
            return pack_several(request, [_compute_and_add_noise(one, tables) for one in request.requests])

        paid = self._charge_and_fetch(request, analyst, draw)
        draws = unpack_several(request, paid.content)
        private = all(map(are_private, draws))
        label = label_of(request, paid.tables, paid.account, paid.charge, analyst, private=private)
        return assembled(request, draws, label, stored=paid.stored)

    def remeasure_request(self, before: Sequence[Request], request: Request, *, analyst: str = "") -> Release:
        """Charge and answer a request for what was measured before, and average all measurements.

        Those before, answers for the same plan, each with its own noise, are read from the store at no cost.
        """
        check_combined(request.parts)
        measured = [*before, request]
        apart = len({one.identity for one in measured}) == len(measured)
        known = all(self.is_charged(one) and one.plan == request.plan for one in before)
        if not (before and apart and known):
            raise ParameterError("release", "is not an answer of this ledger", "one that it gave")
        release = self.answer(request, analyst=analyst)
        paid = [self._charge_and_fetch(one, analyst, _refuse) for one in measured]
        drawn = [unpack(one, kept.content) for one, kept in zip(measured, paid, strict=True)]
        draws = [average_draws(same) for same in zip(*drawn, strict=True)]
        earlier = earlier_charges(before, [kept.charge for kept in paid[:-1]])
        private = bool(release.label["private"]) and are_private(draws)
        label = {**release.label, "averaged_with": earlier, "private": private}
        return replace(finish(request, draws, label, stored=release.stored), before=tuple(before))

    def _charge_and_fetch(
        self, request: AnyRequest, analyst: str, draw: Callable[[Mapping[str, Table]], bytes]
    ) -> _Paid:
        """Charge, unless charged before; draw, unless there is an answer; return what is stored."""
        check_analyst(analyst)
        # One view of the tables throughout: another thread may amend them meanwhile.
        tables = _checked(request, self._tables)
        declared = declare(tables)
        charge, content, account = self._find_or_charge(request, analyst, declared)
        check_current(account, declared)  # the charge may be an old one
        stored = content is not None
        if content is None:
            content = self.ledger.keep_answer(charge, draw(tables))
        return _Paid(tables=tables, charge=charge, account=account, content=content, stored=stored)

    def _find_or_charge(
        self, request: AnyRequest, analyst: str, declared: DeclaredRecord
    ) -> tuple[Entry, bytes | None, Account]:
        """Return the charge of a request, its answer if it was found with one, and the account."""
        event, keys = request.event, declared_keys(self._tables)

        def rule(account: Account, _: str) -> Body:
            account.check(analyst, event)
            plans = [outline(plan, declared=keys) for plan in request.plans]
            several = request.outline if isinstance(request, StatisticRequest) else {"plans": plans}
            return {
                "analyst": analyst,
                "event": event.to_object(),
                "plan": recorded(plans[0] if len(plans) == 1 else several),
                "versions": dict(request.versions),
            }

        key = request.digest(self._secret, declared)
        charge, content, seen = self.ledger.look(CHARGE, key)
        if charge is not None:
            return charge, content, seen
        self._rehearse(lambda account: account.check(analyst, event), seen)
        charge, account, is_new = self._decide(CHARGE, rule, declared=declared, key=key)
        self.charges_made += is_new
        # A new charge has no answer; if another process is quicker, keep_answer returns what that one kept.
        return charge, None if is_new else self.ledger.answer(charge), account

    def _rehearse(self, check: Callable[[Account], object], account: Account | None = None) -> None:
        """Ask in advance, at no cost, what will be asked under the lock: costs are cached.

        New entries of others are read, if no account was. A refusal is none yet: only the ledger decides.
        """
        with suppress(DiscreetError):
            check(self.ledger.state() if account is None else account)

    def _decide(
        self, kind: str, rule: Callable[..., Body], *, declared: DeclaredRecord | None, key: str | None
    ) -> Decided[Account]:
        """Record what a rule says, in the period that has begun, and under declarations, if any are given."""

        def checked(account: Account, time: str) -> Body:
            check_current(account, declared)
            if (period := account.due(time)) is not None:
                raise PeriodBegan(period)
            return rule(account, time)

        while True:
            try:
                decision = self.ledger.decision(kind, checked, key=key)
            except PeriodBegan as began:
                self._renew(began.period)
            else:
                if kind != SETTLE:  # which spends nothing
                    log_charge(decision.entry)
                return decision

    def _renew(self, period: str) -> None:
        """Renew the caps, unless someone else renewed this or a later period."""

        def rule(account: Account, time: str) -> Body:
            if account.due(time) != period:
                raise PeriodBegan(period)
            return {"period": period}

        with suppress(PeriodBegan):
            self.ledger.decide(RENEW, rule, key=period)

    def amend(
        self,
        *,
        reason: str,
        tables: Mapping[str, Table] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Change declarations or caps, on the record. What was spent stays spent.

        Raises
        ------
        BudgetExceeded
            If more was already spent, or is reserved, than the new caps allow.
        LedgerMismatch
            If the tables were amended by another process since this curator was opened.
        """
        caps = None if budget is None else checked_budget(budget)
        before = self._tables
        changed = before if tables is None else checked_tables(tables)
        check_relations(changed, self.budget if caps is None else caps)
        rule = amendment(reason, declare(changed), caps)
        self._rehearse(lambda account: rule(account, self.ledger.time()))
        self._decide(AMEND, rule, declared=declare(before), key=None)
        self._tables = changed

    def close(self) -> None:
        """Close the ledger's connections."""
        self.ledger.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paid:
    """What is stored for a request that was charged: packed, and public."""

    tables: Mapping[str, Table]
    charge: Entry
    account: Account
    content: bytes
    stored: bool


def _checked(request: AnyRequest, tables: dict[str, Table]) -> Mapping[str, Table]:
    """Return the tables, if a request was made for them and its noise covers what they declare."""
    if not isinstance(request, AnyRequest):
        raise ParameterError("request", "is not a request", "a Request")
    view = QuestionTables(tables)
    request.check(view)
    return view


def _refuse(tables: Mapping[str, Table]) -> NoReturn:
    """Compute nothing: an answer that was charged but never stored must be asked for separately."""
    raise EngineFailed


def _compute_and_add_noise(request: Request, tables: Mapping[str, Table]) -> list[Draw]:
    """Compute and add noise. Exact values never leave this function, and neither do errors."""
    draws = None
    try:
        exact = compute(request.plan, tables, salt=fresh_salt())
        draws = [
            Draw(part=part, steps=np.asanyarray(part.mechanism.release(exact[part.measure]), np.int64))
            for part in request.parts
        ]
    except Exception:  # noqa: S110
        pass
    if draws is None:
        raise EngineFailed
    return draws
