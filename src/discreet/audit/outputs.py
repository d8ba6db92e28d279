"""What an observer sees of a release: a key under which equal outputs, and only those, meet.

1, 1.0 and True are equal to Python and different to an observer, and so are 0.0 and -0.0:
types, shapes and signs are part of an output. An exception is an output too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

__all__ = ["behind", "observe", "output_key", "private_copy"]


def output_key(output: object) -> Hashable:
    """Return the key of an output.

    An int is its own key, and so are None, text and bytes. A float becomes ("float", its
    hexadecimal text), an array ("array", its type, its shape, its items, what a view shows of the
    array behind it), a sequence (its type, the keys of its items), an exception its type and its
    message. Marks of replayed noise are left out. What has no equality of its own, such as a private
    profile, equals itself only.
    """
    if output is None or isinstance(output, str | bytes):
        return output
    if isinstance(output, bool | np.bool_):
        return int(output)  # a marked truth value is an int already
    if isinstance(output, int | np.integer):
        return int(output)
    if isinstance(output, float | np.floating):
        return "float", float(output).hex()
    if isinstance(output, np.ndarray):
        items = tuple(output_key(item) for item in output.ravel().tolist())
        return "array", output.dtype.name, output.shape, items, behind(output)
    if isinstance(output, tuple | list):
        return type(output).__name__, tuple(output_key(item) for item in output)
    if isinstance(output, Exception):
        return "raised", type(output).__name__, str(output)
    if type(output).__eq__ is object.__eq__ and type(output).__repr__ is not object.__repr__:
        return type(output).__name__, repr(output), id(output)  # what it holds may not be shown
    return type(output).__name__, repr(output)


def behind(output: NDArray[Any]) -> Hashable:
    """Return what the holder of a view can read beyond it, or None."""
    base = output.base
    if not isinstance(base, np.ndarray) or base.size == output.size:
        return None
    return tuple(output_key(item) for item in base.ravel().tolist())


def observe(release: Callable[[object], object], value: object) -> object:
    """Return what a release shows: its result, or the exception that it raised."""
    try:
        return release(private_copy(value))
    except Exception as error:
        return error


def private_copy(value: object) -> object:
    """Return a copy of an input, so that a mechanism that writes into it changes nothing here."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return list(value) if isinstance(value, list) else value
