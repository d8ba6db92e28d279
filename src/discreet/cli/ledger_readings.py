"""What a ledger says: its entries, what was spent, and what today's accountant computes for it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, cast

from discreet.cli import declared, formatting, questions, rendering
from discreet.cli.progress import working
from discreet.curator.budget.charge_words import asked_in_words
from discreet.errors import LedgerTampered, ParameterError
from discreet.privacy.decimals import above, below, json_number, reading
from discreet.privacy.rational import float_above, float_written, rational

if TYPE_CHECKING:
    from discreet.accounting.filters import Odometer
    from discreet.curator import Account
    from discreet.curator.ledger import Entry
    from discreet.privacy.events import Event
from discreet.visible import visible

__all__ = ["replay_ledger", "show_entries", "spent"]

_WAITING = "charged, not yet answered: ask again, it costs nothing"
_FREES_NOTHING = "information only: it holds if all questions were fixed in advance; the caps hold for any"


def show_entries(options: Namespace) -> str:
    """List the entries."""
    with declared.ledger(options) as ledger:
        if options.json:
            return "\n".join(entry.to_json() for entry in ledger.entries())
        entries = list(ledger.entries())
    waiting = unanswered(entries)
    lines = [_line(entry, is_waiting=entry.sequence in waiting) for entry in entries]
    return rendering.grid([["", "time (UTC)", "entry", "analyst", "what"], *lines], left=5)


def unanswered(entries: Iterable[Entry]) -> list[int]:
    """Return the charges without a stored answer: a crash came between both, or it is being computed."""
    charged: dict[int, None] = {}
    for entry in entries:
        if entry.kind == "charge":
            charged[entry.sequence] = None
        elif entry.kind == "answer":
            charged.pop(_charge(entry), None)
    return list(charged)


def _charge(entry: Entry) -> int:
    found = entry.body.get("charge")
    if not isinstance(found, int):
        raise LedgerTampered("an entry could not have been recorded")
    return found


def _line(entry: Entry, *, is_waiting: bool) -> list[str]:
    body = entry.body
    time = entry.time[:19].replace("T", " ")
    return [
        str(entry.sequence),
        time,
        entry.kind,
        visible(body.get("analyst", "")),
        "; ".join(filter(None, [_words(entry.kind, body), _WAITING if is_waiting else ""])),
    ]


def _words(kind: str, body: Mapping[str, object]) -> str:
    """Say in a few words what an entry records. It holds no literal of a question."""
    try:
        match kind:
            case "open":
                tables = body["tables"]
                return f"tables {', '.join(map(visible, tables))}"  # type: ignore[call-overload]
            case "charge" | "use":
                return "; ".join(filter(None, [questions.cost(_event(body)), asked_in_words(body)]))
            case "reserve":
                return f"{questions.cost(_event(body))} for {visible(body['purpose'])}"
            case "answer":
                return f"of entry {body['charge']}"
            case "settle":
                return f"entry {body['reservation']}"
            case "renew":
                return visible(body["period"])
            case "amend":
                return "; agreed: ".join(filter(None, [visible(body["reason"]), _names(body)]))
            case "abandon":
                return f"entry {body['reservation']}: {visible(body['reason'])}"
    except (KeyError, TypeError, ParameterError):
        raise LedgerTampered("an entry could not have been recorded") from None
    return ""


def _names(body: Mapping[str, object]) -> str:
    """Return the owners who agreed to an amendment."""
    return ", ".join(visible(one) for one in cast("list[object]", body.get("agreed", [])))


def spent(options: Namespace) -> str:
    """Say what was spent in this period and ever, and what is left."""
    with declared.ledger(options) as ledger:
        account = ledger.state()
        due = account.due(ledger.time())
        waiting = unanswered(ledger.entries())
    account = account if due is None else account.renewed(due)
    caps = account.caps
    current, lifetime = account.counted(account.current), account.counted(account.lifetime)
    (now, delta), (ever, ever_delta) = account.spent_now(), account.ever_spent()
    left = account.largest_epsilon
    shares = {name: account.spent_by(name) for name in account.names()}
    if options.json:
        return formatting.as_json(
            {
                "budget": caps.to_body(),
                "period": account.period or None,
                "epsilon": json_number(now),
                "lifetime_epsilon": json_number(ever),
                "delta": float_above(delta),
                "lifetime_delta": float_above(ever_delta),
                "remaining_epsilon": float_written(left(options.analyst), below=True),
                "charges": account.charges,
                "unanswered": waiting,
                "open_reservations": len(account.reserved),
                "analysts": {
                    name: float_written(left(name), below=True) for name in sorted(account.analysts)
                },
                "by_analyst": {
                    name: {
                        "epsilon": json_number(used),
                        "delta": float_above(its_delta),
                        "remaining_epsilon": float_written(left(name), below=True),
                    }
                    for name, (used, its_delta) in shares.items()
                },
            }
        )
    named = [
        [
            visible(name) or "(no name)",
            _loss(account, account.odometer_of(name), used, its_delta),
            below(left(name)),
        ]
        for name, (used, its_delta) in shares.items()
    ]
    by_analyst = rendering.grid([["analyst", "spent", "left, as a pure epsilon"], *named], left=2)
    whole = formatting.as_table(
        {
            "budget": str(caps),
            "period": f"since {account.period}" if account.period else "",
            "spent": f"{_loss(account, current, now, delta)}; a reading, not a guarantee",
            "ever": _loss(account, lifetime, ever, ever_delta) if account.period else "",
            "left": _left(account, options.analyst),
            "charges": f"{account.charges:,}",
            "waiting": f"{_entries(waiting)} {_WAITING}" if waiting else "",
            "reserved": f"{len(account.reserved)} open permits" if account.reserved else "",
        }
    )
    return f"{whole}\n\n{by_analyst}" if named else whole


def _entries(sequences: list[int]) -> str:
    """Name entries, the first of many."""
    more = f" and {len(sequences) - 5} more" if len(sequences) > 5 else ""
    listed = ", ".join(map(str, sequences[:5]))
    return f"{'entry' if len(sequences) == 1 else 'entries'} {listed}{more}"


def _epsilon(value: float, exact: Fraction | None, delta: Fraction) -> str:
    return f"epsilon {reading(value, exact)}" + (f" at delta {above(delta)}" if delta else "")


def _loss(account: Account, odometer: Odometer, value: float, delta: Fraction) -> str:
    """Write a reading in the unit of the budget: of one that counts rho, with an epsilon if known."""
    epsilon = _epsilon(value, odometer.epsilon, delta)
    if account.caps.rho is None or odometer.rho is None:
        return epsilon
    rho = f"rho {above(odometer.rho)}"
    return f"{rho}, or {epsilon}" if isfinite(value) else rho


def _left(account: Account, analyst: str) -> str:
    """Write what is left for an analyst: of a budget that counts rho, also as rho."""
    pure, rho = f"a pure epsilon of {below(account.largest_epsilon(analyst))}", account.largest_rho(analyst)
    return pure if rho is None else f"rho {below(rho)}, or {pure}"


def replay_ledger(options: Namespace) -> str:
    """Price everything that was ever run by today's accountant."""
    from discreet.accounting import epsilon
    from discreet.privacy.events import compose

    with declared.ledger(options) as ledger:
        account = ledger.state()
    delta = account.caps.delta if options.delta is None else rational(options.delta, "delta")
    run = compose(_events(account))
    with working("accounting"):
        found = epsilon(run, delta=delta)
    lifetime = account.counted(account.lifetime)
    counted = lifetime.read(delta).epsilon
    if options.json:
        return formatting.as_json(
            {
                "event": run.to_object(),
                "epsilon": formatting.interval(found),
                "delta": float(delta),
                "method": found.method,
                "certified": found.certified,
                "counted_epsilon": json_number(counted),
                "note": _FREES_NOTHING,
            }
        )
    upper = reading(found.upper, run.pure_epsilon)
    return formatting.as_table(
        {
            "charges": f"{account.charges:,}",
            "epsilon": f"{upper} at delta {above(delta)}, by {found.method}",
            "counted": f"{reading(counted, lifetime.epsilon)}, as the ledger adds it up",
            "note": _FREES_NOTHING,
        }
    )


def _events(account: Account) -> Iterator[Event]:
    """Iterate over all that was charged or is reserved; a permit that was never closed counts as a whole."""
    node = account.history
    while node is not None:
        yield node.event
        node = node.before
    for reservation in account.reserved.values():
        yield reservation.event


def _event(body: Mapping[str, object]) -> Event:
    from discreet.privacy.events import Event

    return Event.from_object(body["event"])
