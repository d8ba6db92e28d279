"""Low-order bits: what they tell about where a float came from.

Floats are not evenly spaced. Noise that is added in floats leaves out some outputs, and
which ones depends on the input (Mironov 2012; Haney, Desfontaines, Hartman, Shrestha & Hay
2022). There are two ways to be safe, and each leaves a mark that does not move with the input:

- outputs are multiples of one public power of two: then the lowest set bit of an output, as a
  power of two, follows the same law at all inputs, far below the scale of the noise;
- outputs are real numbers, correctly rounded to the nearest float: then the number of trailing
  zeros of the significand does.

Float noise keeps neither. A mechanism fails when both marks differ between neighbors,
or when it states a grid and leaves it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.fit import CAUTION
from discreet.audit.outputs import observe
from discreet.audit.report import Finding
from discreet.audit.samples import collect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.audit.samples import Mechanism, Sample

__all__ = ["check_precision", "lowest_bit", "off_grid", "trailing_zeros", "two_sample_p_value"]

LEAST_EXPECTED = 200
FINE = 64
"""A bit counts as low-order when outputs spread over this many times its value."""

_STRANGE_INPUTS = (5e-324, -1e-9, 1 / 3, 12345.678, 2.0**40 + 1 / 3, -1e15)
_STRANGE_RELEASES = 200


def lowest_bit(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return, for every float, the exponent of its lowest set bit (2000 for zero)."""
    significands, exponents = np.frexp(values)
    integers = np.abs(np.ldexp(significands, 53)).astype(np.int64)
    lowest = np.frexp((integers & -integers).astype(np.float64))[1] - 1
    return np.where(integers == 0, 2000, exponents.astype(np.int64) - 53 + lowest)


def trailing_zeros(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return, for every float, the number of trailing zeros of its significand of 53 bits."""
    significands = np.frexp(values)[0]
    integers = np.abs(np.ldexp(significands, 53)).astype(np.int64)
    return np.where(integers == 0, 53, np.frexp((integers & -integers).astype(np.float64))[1] - 1)


def off_grid(values: NDArray[np.float64], grid: Fraction) -> int:
    """Return how many floats are not multiples of a power of two."""
    exponent = grid.numerator.bit_length() - grid.denominator.bit_length()
    return int((lowest_bit(values) < exponent).sum())


def two_sample_p_value(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the chi-square p-value of two samples of categories having one law; rare ones pooled."""
    from scipy.stats import chi2

    categories = np.unique(np.concatenate([first, second]))
    counts = np.array([[(side == category).sum() for category in categories] for side in (first, second)])
    totals = counts.sum(axis=1)
    shares = counts.sum(axis=0) / totals.sum()
    rare = shares * totals.min() < LEAST_EXPECTED
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return 1.0
    expected = np.outer(totals, counts.sum(axis=0) / totals.sum())
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, counts.shape[1] - 1))


def check_precision(
    mechanism: Mechanism, samples: Sequence[tuple[Sample, Sample]], false_alarm: float
) -> Finding:
    """Attack the low-order bits of float outputs.

    Parameters
    ----------
    mechanism : Mechanism
        Its `grid` is used where it states one.
    samples : sequence of pairs
        Samples at neighboring inputs, best at inputs around which floats are spaced
        differently, such as 0 and the sensitivity.
    false_alarm : float
        The probability with which a right mechanism may fail.
    """
    pairs = [(_floats(first), _floats(second)) for first, second in samples]
    floats = [(first, second) for first, second in pairs if first is not None and second is not None]
    if not floats:
        return Finding(name="precision", verdict="skipped", detail="outputs are not floats")
    grid = getattr(mechanism, "grid", None)
    if isinstance(grid, Fraction):
        outputs = np.concatenate([side for pair in floats for side in pair] + _strange(mechanism))
        astray = off_grid(outputs, grid)
        if astray:
            return Finding(
                name="precision",
                verdict="failed",
                detail=f"{astray} of {len(outputs)} outputs are not multiples of the stated grid"
                f" {float(grid):.6g}",
            )
    marks = [_marks(first, second) for first, second in floats]
    worst = min(marks, key=max)
    failed = max(worst) < false_alarm / (CAUTION * len(marks))
    return Finding(
        name="precision",
        verdict="failed" if failed else "passed",
        detail=f"p-values that neighbors share low-order bits: {worst[0]:.3g} for the lowest set bit,"
        f" {worst[1]:.3g} for trailing zeros, over {len(floats[0][0])} outputs each"
        + (f"; all outputs are multiples of {float(grid):.6g}" if isinstance(grid, Fraction) else ""),
        false_alarm=false_alarm,
    )


def _floats(sample: Sample) -> NDArray[np.float64] | None:
    if sample.values is None or sample.values.dtype.kind != "f":
        return None
    return np.asarray(sample.values, np.float64).ravel()


def _strange(mechanism: Mechanism) -> list[NDArray[np.float64]]:
    """Release inputs of many magnitudes, as far as the mechanism takes numbers."""
    outputs = []
    for value in _STRANGE_INPUTS:
        released = collect([observe(mechanism.release, value) for _ in range(_STRANGE_RELEASES)])
        floats = _floats(released)
        if floats is not None:
            outputs.append(floats)
    return outputs


def _marks(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    """Return the p-values of both marks."""
    if _repeats(first) or _repeats(second):
        # Outputs that repeat are a coarse grid or candidates of a choice: their law differs
        # between neighbors as far as the claim allows, low-order bits included.
        return 1.0, 1.0
    spread = float(np.subtract(*np.quantile(np.concatenate([first, second]), [0.75, 0.25])))
    highest = int(np.frexp(spread / FINE)[1]) if spread > 0 else -2000
    lowest = two_sample_p_value(*(np.minimum(lowest_bit(side), highest) for side in (first, second)))
    zeros = two_sample_p_value(trailing_zeros(first), trailing_zeros(second))
    return lowest, zeros


def _repeats(values: NDArray[Any]) -> bool:
    return len(np.unique(values)) < len(values) / 2
