"""One line for every charge, to the logger "discreet": for the operator of a service, who watches spending.

A line has what the ledger records in public: the entry, who paid, for which tables, what it may cost. It has
no value of the data, no noise, and no literal or name that a question contains. Of two processes that ask the
same at the same time both write it, with the same number.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from discreet.curator.ledger import Body, Entry
from discreet.privacy.decimals import above
from discreet.privacy.events import Event

__all__ = ["LOGGER", "log_charge"]

LOGGER = logging.getLogger("discreet")
LOGGER.addHandler(logging.NullHandler())


def log_charge(entry: Entry) -> Entry:
    """Write the line of an entry that was just recorded, and return the entry."""
    body = entry.body
    words = [f"{entry.kind} {entry.sequence}"]
    if "analyst" in body:
        words.append(f"analyst {body['analyst']!r}")
    if isinstance(versions := body.get("versions"), Mapping):
        words += [f"table {name!r} version {version!r}" for name, version in versions.items()]
    if "event" in body:
        words.append(_cost(body))
    LOGGER.info("%s", ", ".join(words))
    return entry


def _cost(body: Body) -> str:
    event = Event.from_object(body["event"])
    if event.pure_epsilon is not None:
        return f"epsilon {above(event.pure_epsilon)}"
    if event.concentrated_rho is not None:
        return f"rho {above(event.concentrated_rho)}"
    return type(event).__name__
