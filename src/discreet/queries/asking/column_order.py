"""Which columns an answer shows, and in which order: those of SELECT, and keys that tell its rows apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.curator import Release
from discreet.curator.request.key_request import KeyRequest

__all__ = ["columns_shown", "in_order"]


def columns_shown(release: Release, selected: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to show of an answer with all its groups, given the names of SELECT in order.

    A key that was not selected comes first if rows could not be told apart without it. Keys that were chosen
    are always shown: which there are is a part of the answer.
    """
    known = [*release.keys, *(column.name for column in release.outputs)]
    listed = [name for name in dict.fromkeys(selected) if name in known]
    if not listed:
        return ()
    others = [name for name in release.keys if name not in listed]
    if release.chosen or isinstance(release.request, KeyRequest):
        return (*others, *listed)
    exact = {one.name: one.values.tolist() for one in release.outputs if one.lower is None and not one.offers}
    columns = [release.keys.get(name, exact.get(name)) for name in listed]
    told: list[Sequence[object]] = [list(column) for column in columns if column is not None]
    needed = []
    for name in others:
        before, after = _apart(told, len(release)), _apart([*told, release.keys[name]], len(release))
        if after > before:
            needed.append(name)
            told.append(release.keys[name])
    return (*needed, *listed)


def in_order(release: Release, order: tuple[str, ...]) -> Release:
    """Return an answer with its columns in an order, of those that it has."""
    known = {*release.keys, *(column.name for column in release.outputs)}
    return replace(release, order=tuple(name for name in order if name in known))


def _apart(columns: Sequence[Sequence[object]], rows: int) -> int:
    """Return how many different rows some columns have."""
    return len({*map(repr, zip(*columns, strict=True))}) if columns else min(rows, 1)
