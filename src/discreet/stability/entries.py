"""Private entries as arrays: what is accepted depends on types alone, never on how large a number is.

No message holds an entry, and no number is too long.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError

__all__ = ["clamped_integers", "exact_integers", "reals"]

_LARGEST = 2**62
_ARRAY = "numbers that form an array"


def exact_integers(values: ArrayLike, name: str, allowed: str = "an array of integers") -> NDArray[Any]:
    """Return integers as an array: of 64 bits where all of them fit, else of Python's integers."""
    held = _array(values, name)
    if not held.size:
        return np.zeros(held.shape, np.int64)
    if held.dtype.kind == "u" and int(held.max()) > np.iinfo(np.int64).max:
        held = held.astype(object)
    if held.dtype.kind in "iu":
        return held.astype(np.int64)
    if not isinstance(values, np.ndarray):  # a list of integers of which some are long
        held = _objects(values, name)
    if held.dtype != object or not all(_is_integer(entry) for entry in held.flat):
        raise ParameterError(name, "does not hold integers", allowed)
    exact = np.empty(held.shape, object)
    exact.flat[:] = [int(entry) for entry in held.flat]
    limits = np.iinfo(np.int64)
    fits = all(limits.min <= entry <= limits.max for entry in exact.flat)
    return exact.astype(np.int64) if fits else exact


def clamped_integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return integers as an array of 64 bits; what is beyond 2^62 in size is brought to it."""
    held = exact_integers(values, name, "integers, or floats with the step of their grid, as in step=0.01")
    return np.asarray(np.clip(held, -_LARGEST, _LARGEST)).astype(np.int64)


def reals(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return numbers as an array of floats of its own, row by row in memory.

    What exceeds every float is infinite, and None is not a number.
    """
    held = _array(values, name)
    if held.dtype.kind not in "biuf" and held.size:
        if not isinstance(values, np.ndarray):
            held = _objects(values, name)
        if held.dtype != object:
            raise ParameterError(name, "does not hold numbers", "an array of numbers")
        floats = np.empty(held.shape)
        floats.flat[:] = [_as_float(entry, name) for entry in held.flat]
        held = floats
    with np.errstate(over="ignore"):
        return np.array(held, dtype=np.float64, order="C", subok=False)


def _array(values: ArrayLike, name: str) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(name, "is a masked array", "an array in which every entry counts")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return _objects(values, name)


def _objects(values: ArrayLike, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values, dtype=object)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, "does not form an array", _ARRAY) from None


def _is_integer(entry: object) -> bool:
    return isinstance(entry, int | np.integer) and not isinstance(entry, bool)


def _as_float(entry: object, name: str) -> float:
    if entry is None:
        return nan
    if not isinstance(entry, int | float | Fraction | Decimal | np.integer | np.floating | np.bool_):
        raise ParameterError(name, "does not hold numbers", "an array of numbers")
    try:
        return float(entry)
    except OverflowError:
        return inf if entry > 0 else -inf
    except ValueError:  # a signaling Decimal
        return nan
