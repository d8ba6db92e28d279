"""How a private value enters a mechanism and how a noisy one leaves.

A mechanism lives on a `Lattice`: either the integers (ints in, ints out) or the multiples of a
public power of two (floats in, floats out). What is accepted depends on the type of a value
and never on its size: numbers outside the range are clamped, silently and by a public rule,
because an error or a warning would itself be an answer about the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.noise.grid import LARGEST_STEPS, check_grid, from_grid, steps_of, suitable_grid
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import Number, rational, typed_as_integers, whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

__all__ = [
    "Lattice",
    "Value",
    "check_delta",
    "check_reach",
    "check_size",
    "holds_integers",
    "lattice_for",
    "stated_neighbors",
]

Value: TypeAlias = (
    int | float | list[int] | list[float] | NDArray[np.integer[Any]] | NDArray[np.floating[Any]]
)
"""What a mechanism takes and gives: a number, or an array of numbers."""

LARGEST_INTEGER = 1 << 62
LARGEST_ARRAY = 1 << 40
LEAST_DELTA = Fraction(1, 10**100)

_LEAST_SENSITIVITY = Fraction(1, 1 << 800)
_FINEST = Fraction(1, 1 << 16)
_LARGEST_SCALE_IN_STEPS = Fraction(1, 1 << 39)
_EXACT_INTEGER = 1 << 53


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """The multiples of `step` on which values are rounded and noise is drawn.

    Attributes
    ----------
    step : Fraction
        Distance of neighboring multiples: 1 for integers, else a power of two.
    integers : bool
        Whether values are integers already, so that nothing is rounded.
    """

    step: Fraction
    integers: bool

    @property
    def largest(self) -> int | float:
        """The largest magnitude that enters unclamped."""
        return LARGEST_INTEGER if self.integers else float(LARGEST_STEPS * self.step)

    @property
    def rounding(self) -> Fraction:
        """The most that rounding moves a value that is within range."""
        return Fraction(0) if self.integers else self.step / 2

    def enter(self, value: Value, name: str = "value") -> NDArray[np.int64]:
        """Return a value in lattice steps, as an array of its own shape (0-d for a number)."""
        array = _as_array(value, name)
        if array.size == 0:
            raise ParameterError(name, "is empty", "a number or an array of at least one number")
        if array.dtype.kind in "iu":
            if self.integers:
                return _clamped(array, LARGEST_INTEGER)
            # Clamping first makes the conversion exact; rounding would stretch distances.
            array = _clamped(array, _EXACT_INTEGER)
        elif self.integers:
            raise ParameterError(
                name,
                "holds floats, but an int as sensitivity says that the data are integers",
                "integers; for real numbers give a float, as in sensitivity=1.0 or sum_of(0.0, 5.0)",
            )
        real = array.astype(np.float64)
        if not np.isfinite(real).all():
            raise ParameterError(name, "holds NaN or an infinity", "finite numbers")
        return steps_of(real, self.step)

    def leave(self, steps: NDArray[np.int64]) -> int | float | NDArray[Any]:
        """Return lattice steps as what they stand for: a number for a number, else an array."""
        if self.integers:
            return int(steps) if steps.ndim == 0 else steps
        real = from_grid(steps, self.step)
        return float(real) if steps.ndim == 0 else real

    def pairs(self, ends: Iterable[Sequence[int]]) -> tuple[tuple[Value, Value], ...]:
        """Return pairs of values: zeros, and each of the `ends`, given in steps."""
        shaped = [np.array(end, np.int64) for end in dict.fromkeys(tuple(end) for end in ends)]
        return tuple((self.leave(np.zeros_like(end).squeeze()), self.leave(end.squeeze())) for end in shaped)


def _single_array_type(value: object) -> bool:
    """Return whether a value is of a type whose numbers NumPy reads without looking at them."""
    if type(value) is np.ndarray:  # most are, and need no numpy.ma, which loads when it is named
        return True
    return hasattr(value, "__array__") and not isinstance(value, np.ma.MaskedArray)


def _as_array(value: Value, name: str) -> NDArray[Any]:
    """Return a value as an array of a numeric type that converts to float64 or int64 exactly."""
    allowed = "a number, or a list or array of ints or of floats, of at most 64 bits each"
    kind = type(value).__name__
    if not (isinstance(value, int | float | list | tuple) or _single_array_type(value)):
        raise ParameterError(name, f"is a {kind}", allowed)
    bound = _EXACT_INTEGER if _holds_floats(value) else LARGEST_INTEGER
    try:
        array = np.asarray(_representable(value, bound))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, f"is a {kind} that does not form an array", allowed) from None
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise ParameterError(name, f"is a {kind} of no such numbers", allowed)
    return array


def _holds_floats(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_floats(item) for item in value)
    return isinstance(value, float | np.floating)


def _representable(value: Any, bound: int) -> Any:
    """Clamp integers, alone or in lists, to what NumPy holds exactly.

    Longer ones it would turn into another type, and next to floats it rounds them.
    """
    if isinstance(value, list | tuple):
        return [_representable(item, bound) for item in value]
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return max(-bound, min(bound, int(value)))
    return value


def _clamped(array: NDArray[Any], bound: int) -> NDArray[np.int64]:
    if array.dtype.kind == "u":
        array = np.minimum(array, np.uint64(bound))
    signed: NDArray[np.int64] = array.astype(np.int64, copy=False)
    return signed.clip(-bound, bound)


def holds_integers(sensitivity: Number | Sensitivity) -> bool:
    """Return whether a sensitivity says that the data are integers."""
    if isinstance(sensitivity, Sensitivity):
        return sensitivity.integers
    return typed_as_integers(sensitivity)


def stated_neighbors(sensitivity: Number | Sensitivity, neighbors: Neighbors | None) -> Neighbors:
    """Return the neighbor relation, which a `Sensitivity` brings along."""
    if neighbors is not None:
        check_relation(neighbors)
    if not isinstance(sensitivity, Sensitivity):
        return ADD_REMOVE_PERSON if neighbors is None else neighbors
    if neighbors not in (None, sensitivity.neighbors):
        raise ParameterError("neighbors", "differs from that of the sensitivity", "left out")
    return sensitivity.neighbors


def check_delta(delta: Number) -> Fraction:
    """Return a delta for which tails are computed, and refuse others."""
    failure = rational(delta, "delta", positive=True)
    if not LEAST_DELTA <= failure < 1:
        raise ParameterError("delta", "is out of range", "from 1e-100 to below 1")
    return failure


def check_size(size: int | None, actual: int | None = None) -> None:
    """Check the declared number of values, and that a value to be released has as many."""
    if size is not None:
        whole(size, "size", least=1, most=LARGEST_ARRAY)
        if actual is not None and actual != size:
            raise ParameterError(
                "value",
                "has another number of entries than the mechanism was built for",
                f"of size {size}; or give the constructor size=…, the number of entries of your arrays",
            )


def check_reach(sampler_accepts: Callable[[Fraction], Fraction], noise: Fraction, parameter: str) -> None:
    """Check that noise can be drawn, and blame the parameter that set its scale or variance if not."""
    try:
        sampler_accepts(noise)
    except ParameterError:
        raise ParameterError(
            parameter,
            "calls for noise that is out of range",
            "such that the scale of the noise, which falls as epsilon or rho grows, is from 1/100 to 2^40"
            " grid steps and has at most a few hundred digits",
        ) from None


def lattice_for(
    *, integers: bool, grid: Number | None, sensitivity: Fraction, scale: Fraction, size: int
) -> Lattice:
    """Choose the lattice from public facts.

    A grid that the caller names is used as it is. Otherwise integers need no grid, and real
    values are rounded to a power of two that is at least 2^16 times finer than the noise
    scale and than each value's share of the sensitivity, as far as the sampler's range allows.
    """
    if grid is not None:
        return Lattice(step=check_grid(rational(grid, "grid", positive=True)), integers=False)
    if integers:
        return Lattice(step=Fraction(1), integers=True)
    if not _LEAST_SENSITIVITY <= sensitivity <= 1 / _LEAST_SENSITIVITY:
        raise ParameterError("sensitivity", "is out of range", "from 2^-800 to 2^800")
    fine = min(scale, sensitivity) / size * _FINEST
    return Lattice(step=suitable_grid(max(fine, scale * _LARGEST_SCALE_IN_STEPS)), integers=False)
