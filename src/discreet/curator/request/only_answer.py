"""The one answer of a mechanism that draws for itself, as the ledger keeps it.

Once anything was drawn there is one answer. Whether a mechanism fails may depend on its noise, and another
try would be another draw for the same charge: so that it failed is stored as its answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from discreet.errors import EngineFailed, LedgerTampered
from discreet.noise import current, is_private

__all__ = ["drawn_once", "read_drawn"]


def drawn_once(draw: Callable[[], object]) -> bytes:
    """Draw, and return what was drawn, or that nothing was; and whether its noise was private."""
    private = is_private(current().mark(0))
    try:
        content = _written(draw(), private)
    except Exception:
        content = _written(None, private)
    return content.encode()


def _written(drawn: object, private: bool) -> str:
    held = {"drawn": dict(drawn) if isinstance(drawn, Mapping) else drawn, "private": private}
    return json.dumps(held, separators=(",", ":"), allow_nan=False)


def read_drawn(content: bytes) -> tuple[object, bool]:
    """Return what was drawn, and whether its noise was private.

    Raises
    ------
    EngineFailed
        If the mechanism failed when it drew. It is not asked again.
    """
    try:
        found = json.loads(content)
        drawn, private = found["drawn"], found["private"] is True
    except (ValueError, KeyError, TypeError):
        raise LedgerTampered("a stored answer is not one of its request") from None
    if drawn is None:
        raise EngineFailed
    return drawn, private
