"""Whose a row is: the value of an id, by which people are told apart.

A dictionary finds an id by its hash first. A tensor is equal to others by its value, but has the hash of its
place in memory: as a key it would make every row a person of its own.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from typing import Any

import numpy as np

__all__ = ["person_of", "plain_value"]

_PLAIN = (int, str, bytes, bool)


def person_of(identity: Any) -> Hashable | None:
    """Return the value of an id as a key, None for an id that is nobody's.

    Two ids with the same value have equal keys. What is nobody's: None, what is not equal to itself, such as
    NaN, what has no hash, tuples and sets with such a part, and every object that is not equal to a copy of
    itself or has another hash: its hash does not come from its value.

    Guarantee
    ---------
    Depends on this id alone, and never fails.
    """
    value: Hashable = identity
    if type(value) in _PLAIN:
        return value
    try:
        value = plain_value(identity)
        return value if _is_by_value(value) else None
    except Exception:  # any object that cannot tell whose it is
        return None


def plain_value(identity: Any) -> Any:
    """Return a scalar of NumPy or Arrow, a tensor or an array without axes as the value that Python has."""
    if hasattr(identity, "as_py"):
        return plain_value(identity.as_py())
    if isinstance(identity, np.datetime64 | np.timedelta64):
        return identity  # as integers they would lose their unit
    if isinstance(identity, np.generic) or (getattr(identity, "ndim", 1) == 0 and hasattr(identity, "item")):
        value = identity.item()
        return value if type(value) is type(identity) else plain_value(value)
    equality: object = type(identity).__eq__
    if equality is tuple.__eq__:
        return tuple(map(plain_value, identity))
    if equality is frozenset.__eq__:
        return frozenset(map(plain_value, identity))
    return identity


def _is_by_value(value: Any) -> bool:
    if type(value) in _PLAIN:
        return True
    if type(value) in (tuple, frozenset):
        return all(map(_is_by_value, value))
    if value is None or not bool(value == value):  # noqa: PLR0124 - NaN is not
        return False
    copy = pickle.loads(pickle.dumps(value))  # noqa: S301 - what was written here, made anew in all its parts
    return bool(copy == value) and hash(copy) == hash(value)
