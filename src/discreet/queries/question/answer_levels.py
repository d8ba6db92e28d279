"""Levels of an answer: totals beside the groups that they add up, as ROLLUP and CUBE ask for.

A level is grouped by some of the keys; the others are NULL there. Which level a row is of is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from discreet.errors import UnsupportedQuery

__all__ = ["LARGEST_LEVELS", "AnswerLevels", "check_levels", "grouping_name"]

LARGEST_LEVELS = 64
"""How many levels an answer may have: a cube of six keys."""

AnswerLevels: TypeAlias = tuple[tuple[bool, ...], ...]
"""By which keys each level is grouped."""


def grouping_name(key: str) -> str:
    """Return the name by which calculations read whether a key is left out of a level (1) or not (0)."""
    return f"grouping({key})"


def check_levels(levels: AnswerLevels, keys: Sequence[str]) -> None:
    """Refuse levels that are too many, or do not fit the keys."""
    if len(levels) > LARGEST_LEVELS:
        raise UnsupportedQuery(
            f"the answer would have more than {LARGEST_LEVELS} levels; list fewer with GROUPING SETS"
        )
    if any(len(level) != len(keys) for level in levels):
        raise UnsupportedQuery("a level of the answer is not one of its keys; name keys of the query")
