"""Statements that were written before: a plan that is asked again is not compiled again.

A statement is a function of a plan, of what is declared, and of the salt of its release, and reads no data.
It takes longer to write than a small table takes to answer it. So each table keeps the statements of the
plans that it answered, cut at the places where the salt stands; the next release puts its own salt there. A
salt is drawn anew for every release, 128 bits that nobody knew when the plan was made, so that no literal
of a plan contains it, but for a chance of 2^-128 at each place of a literal.

What is kept is text, names and types of columns, and the lists of public values that a statement reads:
nothing of it depends on private data. It is found by the canonical bytes of the plan and by the very tables
that were declared: an amended table is another one. That the same plan was asked before, by whomever, can be
seen by the time that it takes, and nothing else. (Proof: contribution_bounding, lemma 15.)
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import pyarrow
from ibis.expr.types import Table

from discreet.data.engines import base
from discreet.data.engines.stand_ins import has_every_stand_in, has_stand_in, with_numbers, with_stand_ins
from discreet.data.language.plan import Group, KeyCountPlan, KeyPlan
from discreet.data.language.relations import leftmost
from discreet.data.language.serialization import to_json
from discreet.data.salt import Salt
from discreet.records import dataclass

__all__ = ["Statements", "fetch_plan"]

MOST_STATEMENTS = 64
"""A table keeps so many statements at most, those used last."""
MOST_CHARACTERS = 1 << 22
"""They and the plans that they are of have so many characters at most, lists of keys included."""
_LEAST_SALT = 32
"""A salt this long stands in a statement only where it was put."""

AnyPlan = TypeVar("AnyPlan", Group, KeyPlan, KeyCountPlan)
Build: TypeAlias = Callable[[AnyPlan, Mapping[str, Any], Salt], Table]
Key: TypeAlias = tuple[object, bytes, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A statement, the tables it is of, and how much room it takes."""

    parts: tuple[str, ...]
    shape: base.Shape
    tables: tuple[weakref.ref[Any], ...]
    size: int

    def is_of(self, tables: Mapping[str, object]) -> bool:
        """Return whether it was written for these tables, not for others that were in their places."""
        return all(known() is table for known, table in zip(self.tables, tables.values(), strict=True))


class Statements:
    """The statements that a table answered last, for all threads."""

    __slots__ = ("_kept", "_lock", "_seen", "_size")

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._seen: OrderedDict[int, int] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size(self) -> int:
        """How many characters are kept."""
        return self._size

    def find(self, key: Key, tables: Mapping[str, object]) -> _Kept | None:
        """Return a statement for these tables, if it is kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is None or not found.is_of(tables):
                return None
            self._kept.move_to_end(key)
            return found

    def was_seen(self, key: Key) -> bool:
        """Return whether this is the second time that a plan of stand-ins is looked for, and count it.

        The first time nobody knows that there will be others; after the second, its statement is kept or
        cannot be.
        """
        with self._lock:
            seen = self._seen[hash(key)] = self._seen.pop(hash(key), 0) + 1
            while len(self._seen) > MOST_STATEMENTS:
                self._seen.popitem(last=False)
            return seen == 2

    def keep(self, key: Key, kept: _Kept) -> None:
        """Keep a statement, and drop those that were used least recently while there are too many."""
        if kept.size > MOST_CHARACTERS:
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = kept
            self._size += kept.size - (0 if before is None else before.size)
            while len(self._kept) > MOST_STATEMENTS or self._size > MOST_CHARACTERS:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size


def fetch_plan(build: Build[AnyPlan], plan: AnyPlan, tables: Mapping[str, Any], salt: Salt) -> pyarrow.Table:
    """Compute what `build` makes of a plan, by the statement that was written before if there is one.

    Parameters
    ----------
    build : callable
        Makes an Ibis table of a plan, the tables and a salt. It must be a function of a module, and may not
        decide anything by the salt, only put it into literals.
    plan : Group, KeyPlan or KeyCountPlan
        What is computed.
    tables : mapping of names to tables
        All that are declared; the first one of the plan computes.
    salt : Salt
        The secret of this release.
    """
    first = tables[leftmost(plan.source).table]
    kept, backend = first._statements, first._backend
    if len(salt.value) < _LEAST_SALT or not (salt.value.isascii() and salt.value.isalnum()):
        return base.fetch(build(plan, tables, salt), backend)
    known_as = to_json(plan)
    key = build, known_as, tuple((name, id(one)) for name, one in tables.items())
    found = kept.find(key, tables)
    if found is not None:
        return base.run(salt.value.join(found.parts), found.shape, backend)
    stood_for = with_stand_ins(plan)
    if stood_for is None:
        shared_key, shared = None, None
    else:
        standing, numbers = stood_for
        shared_key = build, to_json(standing), key[2]
        shared = kept.find(shared_key, tables)
    if shared is not None:
        parts = (with_numbers(part, numbers) for part in shared.parts)
        return base.run(salt.value.join(parts), shared.shape, backend)
    text, shape = base.written(build(plan, tables, salt), backend)
    listed = tuple(weakref.ref(one) for one in tables.values())
    kept.keep(key, _kept(text, shape, salt, listed, known_as))
    if shared_key is not None and kept.was_seen(shared_key):
        common, common_shape = base.written(build(standing, tables, salt), backend)
        differs = has_stand_in(text) or with_numbers(common, numbers) != text or common_shape != shape
        if has_every_stand_in(common, numbers) and not differs:
            kept.keep(shared_key, _kept(common, common_shape, salt, listed, shared_key[1]))
    return base.run(text, shape, backend)


def _kept(
    text: str, shape: base.Shape, salt: Salt, tables: tuple[weakref.ref[Any], ...], known_as: bytes
) -> _Kept:
    parts = tuple(text.split(salt.value))
    return _Kept(parts=parts, shape=shape, tables=tables, size=len(text) + len(known_as))
