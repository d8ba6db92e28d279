"""The keys of the groups of an answer, also where it has totals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from discreet.data import GroupKey

__all__ = ["keys_of_levels"]


def keys_of_levels(
    keys: Sequence[GroupKey], levels: Sequence[Sequence[bool]] = ()
) -> dict[str, list[object]]:
    """Return the keys of every group, the last key fastest, level by level.

    Parameters
    ----------
    keys : sequence of GroupKey
        The keys of the finest groups.
    levels : sequence of sequences of bool
        Which keys each level is grouped by; the others are None. By default one level of all keys.
    """
    groups: list[tuple[object, ...]] = []
    for level in levels or [[True] * len(keys)]:
        groups += product(
            *(key.values.values if grouped else (None,) for key, grouped in zip(keys, level, strict=True))
        )
    return {key.column: [group[place] for group in groups] for place, key in enumerate(keys)}
