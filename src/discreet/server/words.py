"""What a worker does for each word of the server: it asks its curator, and returns what becomes JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, TypeAlias, cast

from discreet.curator import Account, Budget, schema
from discreet.curator.budget.charge_words import asked_in_words
from discreet.curator.ledger import Entry
from discreet.curator.release.about import price
from discreet.curator.release.json_form import preview_object, release_object
from discreet.curator.table_records import declare
from discreet.data import AUTO, ContingencyTable, Limits
from discreet.errors import LedgerTampered, ParameterError, RequestRefused
from discreet.front.bill import bill_of
from discreet.front.curator import Curator
from discreet.privacy.decimals import json_number
from discreet.privacy.events import Event
from discreet.queries.counts import LinearQuestion, MarginalRelease, RangeRelease, cdf, marginals, ranges
from discreet.server.catalogue import ServiceRefusal
from discreet.server.owning.owner_words import OWNER_WORDS
from discreet.server.service_limits import ServiceLimits
from discreet.server.wire_form import sent_release
from discreet.visible import visible

__all__ = ["WORDS", "do_word"]

Message: TypeAlias = Mapping[str, Any]

_TERMS = ("epsilon", "delta", "rho", "error", "confidence", "split", "key_share", "rows", "fit_share", "keys")
_MOST_ENTRIES = 1000


def do_word(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    """Return what the curator says to a word. Refusals and failures are raised."""
    return WORDS[message["word"]](curator, message, limits)


def _ask(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    """Pay, and answer: all is refused that can be, before anything is charged."""
    question, analyst, terms = _question(message), message["analyst"], _terms(message)
    curator.preview(question, analyst=analyst, **terms)
    _check_groups(curator, question, terms, limits)
    before = curator.charges_made
    release = curator.ask(question, analyst=analyst, **terms)
    bill = bill_of(curator, release, analyst, paid_before=curator.charges_made == before)
    content = sent_release(release) if message["form"] == "columns" else release_object(release)
    return {**content, **bill.to_object()}


def _preview(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    question, terms = _question(message), _terms(message)
    found = curator.preview(question, analyst=message["analyst"], **terms)
    _check_groups(curator, question, terms, limits)
    return preview_object(found)


def _explain(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    del limits
    return {"explanation": curator.explain(_question(message), **_terms(message))}


def _counts(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    """Return counts within an answer that is in the store: nothing is charged, and no row is read."""
    del limits
    question, terms = _question(message), _terms(message)
    if not isinstance(question, LinearQuestion):
        raise ParameterError("question", "is SQL, whose counts are its answer", "ranges, cdf or marginals")
    if curator.stored(curator.request(question, **terms)) is None:
        raise RequestRefused("this was not answered yet: ask it first; then any count of it is free")
    release = curator.ask(question, analyst=message["analyst"], **terms)
    assert isinstance(release, RangeRelease | MarginalRelease)  # noqa: S101
    found = [release.count(**conditions) for conditions in message["counts"]]
    return {
        "counts": [
            {
                "about": one.about,
                "value": float(one),
                "standard_error": one.standard_error,
                "interval": list(one.interval()),
            }
            for one in found
        ],
        "confidence": str(release.request.confidence),
    }


def _tables(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    del message, limits
    today = None if curator.today is None else curator.today.isoformat()
    return {"tables": declare(curator.tables), "today": today}


def _spent(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    """Return what was spent by all, what is left for the one who asks, and if they may know, by whom."""
    del limits
    account, spent = curator.account(), curator.spent
    content: dict[str, object] = {
        "epsilon": json_number(spent.epsilon),
        "delta": spent.delta,
        "rho": spent.rho,
        "lifetime_epsilon": json_number(spent.lifetime_epsilon),
        "lifetime_rho": spent.lifetime_rho,
        "requests": spent.requests,
        "budget": str(account.caps),
        "period": account.period or None,
        "analyst": message["analyst"],
        "left": {"epsilon": curator.remaining_of(message["analyst"]).epsilon},
        "caps": _caps(account.caps),
        "own": _reading(account, message["analyst"]),
    }
    if message["everyone"]:
        names = sorted({*account.names(), *message.get("names", ())})
        content["analysts"] = [
            {**_reading(account, name), "left": curator.remaining_of(name).epsilon} for name in names
        ]
    return content


def _caps(budget: Budget) -> dict[str, object]:
    """Return the caps for all and for each analyst, as exact numbers in text."""
    body, share = budget.to_body(), budget.per_analyst
    named = {name: body[name] for name in ("epsilon", "delta", "rho", "renews")}
    return {**named, "per_analyst": None if share is None else _caps(share)}


def _reading(account: Account, name: str) -> dict[str, object]:
    epsilon, delta = account.spent_by(name)
    return {"name": name, "epsilon": epsilon if isfinite(epsilon) else None, "delta": float(delta)}


def _ledger(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    """Return entries as they are hashed, so that a reader can check the chain, and the head."""
    del limits
    after, found = message["after"], []
    for entry in curator.ledger.entries():
        if entry.sequence > after:
            found.append(entry)
        if len(found) == _MOST_ENTRIES:
            break
    head = curator.ledger.anchor()
    content: dict[str, object] = {
        "entries": [entry.to_json() for entry in found],
        "head": {"sequence": head.sequence, "hash": head.hash},
    }
    if message.get("described"):
        content["described"] = [_described(entry) for entry in found]
    return content


def _described(entry: Entry) -> dict[str, object]:
    """Return an entry in words. It holds no literal of a question."""
    body = entry.body
    words = [asked_in_words(body), visible(body.get("reason", ""))]
    words += [f"agreed: {visible(one)}" for one in cast("list[object]", body.get("agreed", []))]
    if "charge" in body:
        words.append(f"of entry {visible(body['charge'])}")
    return {
        "sequence": entry.sequence,
        "time": entry.time,
        "kind": entry.kind,
        "analyst": visible(body.get("analyst", "")),
        "cost": price(Event.from_object(cast("Any", body["event"]))) if "event" in body else "",
        "words": "; ".join(filter(None, words)),
    }


def _verify(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    """Recompute every hash. What is wrong is said: these sentences name an entry, and no value."""
    del message, limits
    try:
        found = curator.ledger.verify()
    except LedgerTampered as error:
        return {"holds": False, "found": visible(error)}
    return {
        "holds": True,
        "found": str(found),
        "entries": found.entries,
        "answers": found.answers,
        "head": {"sequence": found.head.sequence, "hash": found.head.hash},
    }


def _label(curator: Curator, message: Message, limits: ServiceLimits) -> dict[str, object]:
    del curator, message, limits
    return schema()


WORDS: dict[str, Callable[[Curator, Message, ServiceLimits], dict[str, object]]] = {
    "ask": _ask,
    "counts": _counts,
    "preview": _preview,
    "explain": _explain,
    "tables": _tables,
    "spent": _spent,
    "ledger": _ledger,
    "verify": _verify,
    "label": _label,
    **OWNER_WORDS,
}
"""What is done for each word."""


def _terms(message: Message) -> dict[str, Any]:
    """Return what `Curator.ask` takes beside the question; who asks is not among it."""
    stated = message["terms"]
    terms = {name: stated[name] for name in _TERMS if stated.get(name) is not None}
    if stated.get("bounds") is not None:
        terms["bounds"] = AUTO
    if (limits := stated.get("limits")) is not None:
        terms["limits"] = AUTO if limits == AUTO.value else Limits(rows=limits)
    return terms


def _question(message: Message) -> str | LinearQuestion:
    """Return what is asked: SQL, or many counts at once of the rows of a table."""
    asked = message["question"]
    if isinstance(asked, str):
        return asked
    table, columns, by, width = asked["table"], asked["columns"], asked["by"], asked["width"]
    if asked["kind"] == "marginals":
        if by:
            raise ParameterError("by", "is given for marginals", "none: name the column among the others")
        return marginals(table, columns, sets=asked["sets"], width=width)
    if asked["sets"] is not None:
        raise ParameterError("sets", "are given for ranges", "none: they are of marginals")
    if asked["kind"] == "ranges":
        return ranges(table, *columns, width=width, by=by)
    if len(columns) != 1 or isinstance(width, Mapping):
        raise ParameterError("columns", "are not one column and its width", "one column")
    return cdf(table, columns[0], width=width, by=by)


def _cells(plan: object) -> int:
    """Return how many numbers an answer to a plan has at least: groups, each perhaps with a table."""
    tables = [one.width for one in getattr(plan, "measures", ()) if isinstance(one, ContingencyTable)]
    return int(getattr(plan, "cells", 0) * max(1, sum(tables)))


def _check_groups(
    curator: Curator, question: str | LinearQuestion, terms: Mapping[str, Any], limits: ServiceLimits
) -> None:
    """Refuse a question with more groups than are answered; how many it has follows from declared keys."""
    try:
        plans = curator.request(question, **terms).plans
    except (RequestRefused, ParameterError):  # keys are chosen, or bought: then nothing is known in advance
        return
    if any(_cells(plan) > limits.groups for plan in plans):
        raise ServiceRefusal("too_many_groups")
