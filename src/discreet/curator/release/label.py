"""The label: what an answer promises, in a form that a machine, a lawyer or a registry can read.

The form is fixed by `label.schema.json` next to this file (JSON Schema 2020-12).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from pathlib import Path

from discreet.accounting.filters import Odometer, UnionFilter, epsilon_above
from discreet.curator.budget.account import Account
from discreet.curator.ledger import Entry
from discreet.curator.release.about import counted
from discreet.curator.release.left_out import left_out
from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.fit_request import FitRequest
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import Request
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Table, describe
from discreet.data.language.relations import sources_of
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.decimals import show_above, show_below
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import float_written

__all__ = ["LABEL_FORMAT", "NOT_COVERED", "label_of", "schema"]

LABEL_FORMAT = "discreet-label-1"

NOT_COVERED = (
    "bias from rounding values to the grid that the plan states, from clipping them to their bounds and from "
    "keeping at most the declared number of rows of a person: intervals cover the bounded statistic",
    "the choice of groups by their released values, as by HAVING, ORDER BY and LIMIT: an interval is for its "
    "group alone, not for the best of many",
    "how long the engine works, how much memory it takes, and what it writes to its own logs",
    "answers from other ledgers or other releases of the same data",
    "answers from before the declarations were last amended, if those protected another unit",
)
_ASSUMPTIONS = (
    "the person column names the unit that is protected, and all rows of a person carry the same name",
    "bounds, keys and limits were declared without looking at the data, except for those that were bought",
    "the ledger was not replaced by an older copy",
)
_RELATED_ASSUMPTIONS = (
    "what is protected is one unit of every table, as the neighbor relation says: not everything that one "
    "person has in a table",
    "nodes, numbers of rows, bounds and keys were declared without looking at the data",
    "the ledger was not replaced by an older copy",
)


def label_of(
    request: Request | CompoundRequest | KeyRequest | StatisticRequest | TabulatedRequest | FitRequest,
    tables: Mapping[str, Table],
    account: Account,
    charge: Entry,
    analyst: str = "",
    *,
    private: bool,
) -> dict[str, object]:
    """State what a release of a request promises.

    Parameters
    ----------
    request : Request
        What was released.
    tables : mapping
        The declared tables.
    account : Account
        What was spent, this release included.
    charge : Entry
        The entry that paid for it.
    analyst : str
        Who asks, of whose share is said what is left.
    private : bool
        Whether the noise came from the operating system, not from a replay for tests.
    """
    names, event = [name for name, _ in request.versions], request.event
    private_tables = dict.fromkeys(name for plan in request.plans for name in sources_of(plan.source))
    rho = account.largest_rho(analyst)
    plan, assumptions = "; and ".join(describe(plan) for plan in request.plans), _ASSUMPTIONS
    if isinstance(request, StatisticRequest):
        private_tables, plan, assumptions = {request.table: None}, request.words, _RELATED_ASSUMPTIONS
    elif isinstance(request, FitRequest):
        plan = f"{plan}\n{request.learner.words}"
    return {
        "format": LABEL_FORMAT,
        "private": private,
        "unit": {name: _unit(tables[name]) for name in private_tables},
        "neighbors": str(event.neighbors),
        "loss": _loss(event),
        "price": _price(event, account.caps.delta),
        "cost": _cost(event, account),
        "event": event.to_object(),
        "charge": {"entry": charge.sequence, "time": charge.time},
        "budget": _budget(account),
        "tables": {name: {**tables[name].declaration, "version": tables[name].version} for name in names},
        "plan": plan,
        "counted": counted(request, tables),
        "left": show_below(account.largest_epsilon(analyst)),
        **({} if rho is None else {"left_rho": show_below(rho)}),
        "confidence": float(request.confidence),
        "outputs": list(request.names),
        "assumptions": list(assumptions),
        "not_covered": [*NOT_COVERED, *left_out(request, tables)],
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of labels."""
    text = Path(__file__).with_name("label.schema.json").read_text(encoding="utf-8")
    found: dict[str, object] = json.loads(text)
    return found


def _unit(table: Table) -> str:
    if isinstance(table, RelatedTable):
        return table.unit
    if not isinstance(table.person, str):
        return "one row"
    by = "" if table._through is None else f", by way of {table._through.table}"
    return f"all rows with the same {table.person}{by}"


def _alone(event: Event) -> Odometer:
    """Return what a release costs by itself, under its own relation."""
    return Odometer(neighbors=event.neighbors or ADD_REMOVE_PERSON).add(event)


def _loss(event: Event) -> dict[str, str | None]:
    """Return what is known about this release by itself, as exact fractions."""
    alone = _alone(event)
    return {
        "epsilon": None if alone.epsilon is None else str(alone.epsilon),
        "rho": None if alone.rho is None else str(alone.rho),
        "delta": str(alone.delta),
    }


@lru_cache(maxsize=1024)
def _certified(event: Event, delta: Fraction) -> tuple[float | None, bool]:
    """Return the epsilon of a release by itself at a delta, rounded up, and whether that is certified."""
    from discreet.accounting.epsilon_and_delta import epsilon  # with SciPy, which other labels do not need

    try:
        found = epsilon(event, delta=delta)
    except ParameterError:  # an event that no accountant knows
        return None, False
    return (found.upper if isfinite(found.upper) else None), found.certified


def _price(event: Event, delta: Fraction) -> dict[str, object]:
    """Return the epsilon and the delta of this release by itself, for readers: rounded up.

    If its loss is bounded, it needs no delta except its own; else it is the epsilon at the budget's.
    """
    alone = _alone(event)
    if alone.epsilon is not None:
        return {"epsilon": show_above(alone.epsilon), "delta": show_above(alone.delta), "certified": True}
    found, certified = _certified(event, delta)
    if not certified and alone.rho is not None and alone.delta < delta:
        found, certified = epsilon_above(alone.rho, delta - alone.delta), True  # logarithms are enclosed
    shown = None if found is None else show_above(Fraction(found))
    return {"epsilon": shown, "delta": show_above(delta), "certified": certified and found is not None}


def _cost(event: Event, account: Account) -> dict[str, str | None]:
    """Return what the release costs of each limit, as exact fractions.

    If the budget counts in several ways, each limit is prefixed with the name of its way.
    """
    whole = account.caps.filter()
    if not isinstance(whole, UnionFilter):
        found = zip(whole.names, whole.cost(event), strict=True)
        return {name: None if cost is None else str(cost) for name, cost in found}
    return {
        f"{member.title}: {name}": None if one is None else str(one)
        for member, cost in whole.costs(event)
        for name, one in zip(member.names, cost, strict=True)
        if name != "delta" or member.limits[name]
    }


def _budget(account: Account) -> dict[str, object]:
    """Return the promise for all answers together, and readings of what was spent, with reservations."""
    caps, lifetime = account.caps, account.counted(account.lifetime)
    spent, delta = account.ever_spent()
    return {
        "cap": str(caps),
        "epsilon": None if caps.epsilon is None else str(caps.epsilon),
        "delta": str(caps.delta),
        "rho": None if caps.rho is None else str(caps.rho),
        "renews": None if caps.renews is None else caps.renews.value,
        "period": account.period or None,
        "lifetime_epsilon": spent if isfinite(spent) else None,
        "lifetime_delta": float_written(delta),
        "lifetime_rho": None if lifetime.rho is None else float_written(lifetime.rho),
    }
