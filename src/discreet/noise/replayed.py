"""Results of replayed noise carry a mark: they look like numbers, and say that they are not private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ReplayedArray", "ReplayedFloat", "ReplayedInt", "is_private", "mark_replayed"]

T = TypeVar("T")

_NOTE = "replayed noise: not private"


class ReplayedInt(int):
    """An integer that was drawn from replayed noise."""

    def __repr__(self) -> str:
        return f"<{int(self)}: {_NOTE}>"


class ReplayedFloat(float):
    """A float that was drawn from replayed noise."""

    def __repr__(self) -> str:
        return f"<{float(self)}: {_NOTE}>"


class ReplayedArray(np.ndarray):
    """An array that was drawn from replayed noise."""

    def __getitem__(self, key: Any) -> Any:
        return mark_replayed(super().__getitem__(key))

    def __iter__(self) -> Iterator[Any]:
        return (mark_replayed(item) for item in super().__iter__())

    def __repr__(self) -> str:
        return f"<{np.asarray(self)!r}: {_NOTE}>"


def mark_replayed(result: T) -> T:
    """Return the same result, marked as not private.

    Booleans become marked integers. Tuples and lists are marked item by item. None, which
    stands for "no answer", carries no mark.
    """
    marked: object = result
    if isinstance(result, np.ndarray):
        marked = result.view(ReplayedArray)
    elif isinstance(result, bool | int | np.integer | np.bool_):
        marked = ReplayedInt(result)
    elif isinstance(result, float | np.floating):
        marked = ReplayedFloat(result)
    elif isinstance(result, tuple | list):
        marked = type(result)(mark_replayed(item) for item in result)
    elif result is not None:
        raise TypeError(f"a {type(result).__name__} cannot carry the mark of replayed noise")
    return cast(T, marked)


def is_private(result: object) -> bool:
    """Return whether a result was drawn from the operating system's randomness."""
    if isinstance(result, tuple | list):
        return all(is_private(item) for item in result)
    return not isinstance(result, ReplayedInt | ReplayedFloat | ReplayedArray)
