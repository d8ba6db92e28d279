"""Arguments of a curator: days, what it does not take, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from difflib import get_close_matches

from discreet.errors import ParameterError

__all__ = ["TERMS", "declared_day", "refuse_others", "refuse_unnamed"]

TERMS = (
    "epsilon",
    "delta",
    "rho",
    "error",
    "confidence",
    "split",
    "key_share",
    "rows",
    "limits",
    "bounds",
    "fit_share",
    "keys",
)
"""What may be stated beside a question, here and at a server."""
_TAKEN = (*TERMS, "analyst", "sql")
_MEANT = {
    "eps": "epsilon",
    "budget": "epsilon",
    "accuracy": "error",
    "margin": "error",
    "level": "confidence",
}


def refuse_unnamed(values: tuple[object, ...]) -> None:
    """Refuse an offer without its name: a bare number could be an epsilon or a rho."""
    if values:
        number = values[0] if isinstance(values[0], int | float) else 0.3
        raise ParameterError("the offer", "is given without its name", f"epsilon={number}, by name")


def refuse_others(unnamed: tuple[object, ...], unknown: Iterable[str]) -> None:
    """Refuse arguments without a name, and names that do not exist, with the one that was probably meant."""
    refuse_unnamed(unnamed)
    for name in unknown:
        close = get_close_matches(name.lower(), _TAKEN, n=1, cutoff=0.5)
        meant = _MEANT.get(name.lower()) or (close[0] if close else None)
        hint = f"did you mean {meant}?" if meant else f"it takes {', '.join(_TAKEN)}"
        raise TypeError(f"a question has no argument {name!r}; {hint}")


def declared_day(today: date | str | None) -> date | None:
    """Return a declared day, or refuse what is none."""
    if isinstance(today, datetime):
        raise ParameterError("today", "has a time", "a day, such as '2026-01-31'")
    if today is None or isinstance(today, date):
        return today
    try:
        return date.fromisoformat(today)
    except (TypeError, ValueError):
        pass
    raise ParameterError("today", "is not a day", "a date, or text such as '2026-01-31'")
