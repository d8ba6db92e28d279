"""One line for every charge, to the logger "discreet": for the operator of a service, who watches spending.

A line has what the ledger records in public: the entry, who paid, for which tables, what it may cost. It has
no value of the data, no noise, and no literal or name that a question contains. Of two processes that ask the
same at the same time both write it, with the same number.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping

from discreet.curator.ledger import Body, Entry
from discreet.privacy.decimals import above
from discreet.privacy.events import Event

__all__ = ["LOGGER", "log_charge"]

LOGGER = logging.getLogger("discreet")
LOGGER.addHandler(logging.NullHandler())


def log_charge(entry: Entry) -> Entry:
    """Write the line of an entry that was just recorded, and return the entry.

    The entry is durable: a handler that fails, as on a full disk, must neither keep an answer that was paid
    for from whoever paid, nor leave a permit open. What it raises is shown as `logging` shows it, if at all.
    """
    try:
        if LOGGER.isEnabledFor(logging.INFO):
            LOGGER.info("%s", _line(entry))
    except Exception:
        if logging.raiseExceptions:
            traceback.print_exc(limit=-1)
    return entry


def _line(entry: Entry) -> str:
    body = entry.body
    words = [f"{entry.kind} {entry.sequence}"]
    if "analyst" in body:
        words.append(f"analyst {body['analyst']!r}")
    if isinstance(versions := body.get("versions"), Mapping):
        words += [f"table {name!r} version {version!r}" for name, version in versions.items()]
    if "event" in body:
        words.append(_cost(body))
    return ", ".join(words)


def _cost(body: Body) -> str:
    event = Event.from_object(body["event"])
    if event.pure_epsilon is not None:
        return f"epsilon {above(event.pure_epsilon)}"
    if event.concentrated_rho is not None:
        return f"rho {above(event.concentrated_rho)}"
    return type(event).__name__
