"""What may meet exact values behind the door: code of the library, and of libraries that it builds on.

A learner or a mechanism is made of parts, and a part is as able to keep or send rows as the whole. So the
whole is looked through: every object in it is an instance of a type that the library defines, exactly and not
of a subclass, or a plain value. The layers above need not be known here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MappingProxyType

import numpy as np

__all__ = ["is_own"]

_OWN = "discreet"
_TRUSTED = frozenset({_OWN, "sklearn"})
"""Where types come from that are looked into; teachers are models of scikit-learn."""
_VALUES = frozenset({"datetime", "decimal", "fractions", "pandas", "pyarrow", "uuid"})
"""Where types of plain values come from, besides those that are listed: to read one calls nobody's code."""
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), range})
_HELD = frozenset({tuple, list, set, frozenset, dict, MappingProxyType})
_NUMBERS = (np.ndarray, np.generic, np.dtype)


def is_own(whole: object) -> bool:
    """Return whether a thing is of the library itself, and so is all that it is made of.

    Who can rewrite modules of this process can do anything in it: this keeps out code that was handed over,
    not code that attacks the interpreter.
    """
    return _package(type(whole)) == _OWN and _all_known([whole])


def _all_known(things: Iterable[object]) -> bool:
    waiting, seen = list(things), {}
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing  # kept, so that its place in memory is not taken by another
        if not _is_known(thing):
            return False
        waiting += _parts(thing)
    return True


def _is_known(thing: object) -> bool:
    """Whether a thing, whatever it holds, is a plain value, a container, or of a library that is trusted."""
    kind = type(thing)
    if kind in _PLAIN | _HELD:
        return True
    if isinstance(thing, type | FunctionType | BuiltinFunctionType):
        plain = thing in _PLAIN | _HELD
        return plain or (_package(thing) in _TRUSTED | {"numpy"} and _is_found(thing))
    if isinstance(thing, _NUMBERS):
        return _package(kind) == "numpy" and _is_found(kind)
    return _package(kind) in _TRUSTED | _VALUES and _is_found(kind)


def _parts(thing: object) -> Iterator[object]:
    """Give what a thing holds, without what is plain."""
    if isinstance(thing, dict | MappingProxyType):
        yield from _with_parts([*thing.keys(), *thing.values()])
    elif isinstance(thing, np.ndarray):
        if thing.dtype.hasobject:
            yield from _with_parts(thing.reshape(-1).tolist())
    elif isinstance(thing, tuple | list | set | frozenset):
        yield from _with_parts(thing)
    if isinstance(thing, type | FunctionType | Enum) or _package(type(thing)) not in _TRUSTED:
        return
    yield from _with_parts(getattr(thing, "__dict__", {}).values())
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name != "__weakref__" and hasattr(thing, name):
                yield getattr(thing, name)


def _with_parts(things: Iterable[object]) -> Iterator[object]:
    """Leave out plain values: of these there may be millions."""
    return (one for one in things if type(one) not in _PLAIN)


def _package(kind: object) -> str:
    return str(getattr(kind, "__module__", "")).partition(".")[0]


def _is_found(kind: object) -> bool:
    """Whether a type or function is what its module has under its name, and does not merely say so."""
    held: object = sys.modules.get(str(getattr(kind, "__module__", "")))
    for name in str(getattr(kind, "__qualname__", "")).split("."):
        held = getattr(held, name, None)
    return held is kind
