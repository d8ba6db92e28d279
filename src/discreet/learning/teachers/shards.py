"""Shards: which teacher sees which rows. All rows of a person are in one, which a keyed hash decides."""

from __future__ import annotations

import hashlib
from numbers import Number
from typing import Any

import numpy as np

from discreet.array_types import Integers
from discreet.errors import ParameterError
from discreet.learning.design.person_ids import person_of, plain_value
from discreet.noise import current
from discreet.privacy.rational import whole

__all__ = ["check_shards", "shard_numbers"]

_KEY_BITS = 128
_MOST_SHARDS = 2**20


def shard_numbers(persons: Any, *, teachers: int, key: bytes | None = None) -> Integers:
    """Return the shard of each row, from 0 to teachers - 1: a function of its person and the key alone.

    Parameters
    ----------
    persons : sequence
        Whose each row is: numbers, texts, or tuples of them. Private. The shard of other objects is the same
        in one run of Python, and may be another in the next.
    teachers : int
        How many shards there are.
    key : bytes, optional
        A secret; drawn anew by default. Every key gives disjoint shards. A secret one keeps people from
        choosing their shard.
    """
    number = whole(teachers, "teachers", least=2, most=_MOST_SHARDS)
    secret = current().bits(_KEY_BITS).to_bytes(_KEY_BITS // 8, "big") if key is None else bytes(key)
    known: dict[str, int] = {}
    found = np.empty(len(persons), dtype=np.int64)
    for place, person in enumerate(_listed(persons)):
        text = _spelled(person)
        if text not in known:
            digest = hashlib.blake2b(text.encode(errors="surrogatepass"), key=secret, digest_size=16).digest()
            known[text] = int.from_bytes(digest, "big") % number
        found[place] = known[text]
    check_shards(persons, found, teachers=number)
    return found


def check_shards(persons: Any, shards: Any, *, teachers: int) -> None:
    """Refuse shards of which two share a person. The message does not say who it is."""
    held = np.asarray(shards)
    if held.dtype.kind not in "iu" or held.shape != (len(persons),):
        raise ParameterError("shards", "are not one integer for each row", "the number of a teacher")
    if ((held < 0) | (held >= teachers)).any():
        raise ParameterError("shards", "are not numbers of teachers", f"from 0 to {teachers - 1}")
    first: dict[str, int] = {}
    for person, shard in zip(_listed(persons), held.tolist(), strict=True):
        if first.setdefault(_spelled(person), shard) != shard:
            raise ParameterError("shards", "share a person", "all rows of a person in one shard")


def _listed(persons: Any) -> list[Any]:
    """Return persons one by one: an array of all would turn tuples into rows of it."""
    return list(persons.tolist() if isinstance(persons, np.ndarray) else persons)


def _spelled(person: Any) -> str:
    """Return one text for each person: 1, 1.0 and Decimal(1) are one, 1 and "1" are two.

    What is equal in Python has one hash. Two people of one text have one shard, which is harmless. Objects
    that no value tells from others are nobody's, and all are in one shard.
    """
    value = _plain(person)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_spelled, value))})"
    if isinstance(value, str):
        return f"str:{value}"
    if isinstance(value, Number):
        try:
            return f"number:{hash(value) if value == value else 'none'}"  # noqa: PLR0124
        except Exception:  # a number that signals that it is none
            return "number:none"
    if isinstance(value, bytes):
        return f"bytes:{value.hex()}"
    named = person_of(value)
    return "nobody" if named is None else f"other:{hash(named)}"


def _plain(person: object) -> object:
    try:
        return plain_value(person)
    except Exception:  # any object that cannot tell whose it is
        return None
