r"""Texts as they may be printed: names and keys come from data, and a terminal obeys some characters.

Control characters move a cursor, change colors or rewrite what stands above; marks of direction show a text
in another order than it has; a line break in a name makes a line that looks like one of the report's own. All
of them are written as escapes, such as ``\x1b`` and ``\u202e``. Letters of every script stay, and so do the
two joiners that some scripts need. What programs read, such as frames and CSV files, is never changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

__all__ = ["visible", "visible_json", "visible_lines"]

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"


def visible(text: object, longest: int | None = None) -> str:
    r"""Return a text in one line, without characters that a terminal obeys; a long one is cut.

    Examples
    --------
    >>> print(visible("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    plain = str(text)
    if not plain.isprintable():
        plain = _replaced(plain, lambda one: repr(one)[1:-1])
    return plain if longest is None or len(plain) <= longest else f"{plain[: longest - 1]}…"


def visible_lines(text: str) -> str:
    """Return several lines without characters that a terminal obeys, except for the ends of lines."""
    return "\n".join(map(visible, text.split("\n")))


def visible_json(text: str) -> str:
    """Return JSON that means the same, without characters that a terminal obeys."""
    return "\n".join(
        line
        if line.isprintable()
        else _replaced(line, lambda one: "".join(f"\\u{unit:04x}" for unit in _units(one)))
        for line in text.split("\n")
    )


def _replaced(text: str, escaped: Callable[[str], str]) -> str:
    return "".join(
        escaped(one) if unicodedata.category(one) in _HIDDEN and one not in _JOINERS else one for one in text
    )


def _units(one: str) -> tuple[int, ...]:
    """Return the units of 16 bits in which JSON escapes a character."""
    written = one.encode("utf-16-be", "surrogatepass")
    return tuple(int.from_bytes(written[place : place + 2], "big") for place in range(0, len(written), 2))
