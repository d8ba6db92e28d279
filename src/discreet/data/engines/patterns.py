"""LIKE as a regular expression that is matched in time proportional to the text.

Spark matches LIKE by trying every way in which the %-signs could share out a text: with k of them and n
characters up to n^k ways, hours for a text of some thousand equal letters. It need not: where the parts of a
pattern are looked for from the left, the first match of each leaves the most for the rest, so that a part
once found never has to be searched again. Atomic groups express exactly this.
"""

from __future__ import annotations

__all__ = ["atomic_pattern"]

_SPECIAL = frozenset("\\^$.|?*+()[]{}-&~#@ ")


def atomic_pattern(pattern: str) -> str:
    """Return the regular expression (of Java) that finds itself in a text exactly if LIKE matches the text.

    Between the first part, which begins the text, and the last, which ends it, each part is found at its
    first position after the one before, and kept there.
    """
    first, *others = pattern.split("%")
    if not others:
        return f"(?s)^{_part(first)}(?!.)"
    *middle, last = others
    found = "".join(f"(?>.*?{_part(part)})" for part in middle if part)
    return f"(?s)^{_part(first)}{found}.*{_part(last)}(?!.)" if last else f"(?s)^{_part(first)}{found}"


def _part(part: str) -> str:
    """Return what matches a part without %-signs, which is as long as the part."""
    return "".join(
        "." if character == "_" else f"\\{character}" if character in _SPECIAL else character
        for character in part
    )
