"""Goodness of fit: whether fresh releases follow the law that they should.

The law is the one that was enumerated from the mechanism's own decisions, and, for a
mechanism whose event is discrete Laplace or Gaussian noise, the formula of that event. The
first catches a generator of words that is not uniform and an array path that differs from
the scalar one; the second also catches a wrong scale in either direction.
"""

from __future__ import annotations

from fractions import Fraction
from math import erfc, exp, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.report import Finding
from discreet.audit.samples import additive_event
from discreet.noise.grid import steps_of
from discreet.privacy.events import DiscreteLaplace, RoundedGaussian
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.audit.enumeration import OutputLaw
    from discreet.audit.samples import Sample
    from discreet.privacy.events import DiscreteGaussian

__all__ = ["Draws", "check_fit", "chi_square"]

LEAST_EXPECTED_IN_CELL = 1000
MOST_FIT_CELLS = 128
CAUTION = 10
"""A p-value has to be this much smaller than the rate that is stated: chi-square is asymptotic."""

_LARGEST_TABLE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Releases of one value, by a name for the report, with the enumerated law at that value."""

    name: str
    value: object
    sample: Sample
    law: OutputLaw | None


def check_fit(mechanism: object, draws: Sequence[Draws], false_alarm: float) -> Finding:
    """Compare fresh releases with the laws that are known for them.

    Parameters
    ----------
    mechanism : object
        Its `event` is used if it is discrete Laplace or Gaussian noise, or rounded Gaussian noise.
    draws : sequence of Draws
        The samples.
    false_alarm : float
        The probability with which a right mechanism may fail.
    """
    tests: dict[str, float] = {}
    for drawn in draws:
        count = f"{drawn.sample.size} {drawn.name}"
        if drawn.law is not None:
            tests[f"{count} against the enumerated law"] = _against_law(drawn.sample, drawn.law)
        steps = _noise_steps(mechanism, drawn.value, drawn.sample)
        if steps is not None:
            tests[f"{count} against the formula of the event"] = _against_formula(mechanism, steps)
    if not tests:
        return Finding(name="fit", verdict="skipped", detail="no law of the outputs is known")
    worst = min(tests, key=lambda name: tests[name])
    failed = tests[worst] < false_alarm / (CAUTION * len(tests))
    return Finding(
        name="fit",
        verdict="failed" if failed else "passed",
        detail=f"the smallest of {len(tests)} p-values is {tests[worst]:.3g}, of {worst}",
        false_alarm=false_alarm,
    )


def chi_square(observed: NDArray[Any], masses: NDArray[np.float64]) -> float:
    """Return the p-value of counts in cells of known masses, small cells pooled."""
    from scipy.stats import chi2

    total = observed.sum()
    order = np.argsort(-masses, kind="stable")
    observed, expected = observed[order].astype(float), masses[order] / masses.sum() * total
    while len(expected) > 2 and expected[-1] < LEAST_EXPECTED_IN_CELL:
        expected = np.append(expected[:-2], expected[-2] + expected[-1])
        observed = np.append(observed[:-2], observed[-2] + observed[-1])
    if len(expected) < 2:
        return 1.0
    statistic = float(((observed - expected) ** 2 / np.maximum(expected, 1e-300)).sum())
    return float(chi2.sf(statistic, len(expected) - 1))


def _against_law(sample: Sample, law: OutputLaw) -> float:
    """Return the p-value of a sample against an enumerated law.

    Outputs that the law does not know have probability at most its unresolved mass; by
    Markov's inequality the p-value of seeing any is at most that times the sample's size.
    """
    counts = sample.counts()
    unknown = sum(number for key, number in counts.items() if key not in law.masses)
    keys = sorted(law.masses, key=_position)
    masses = np.array([float(law.masses[key]) for key in keys])
    observed = np.array([counts.get(key, 0) for key in keys])
    first = chi_square(*_pooled(observed, masses, sample.size))
    return min(first, float(law.unresolved) * sample.size) if unknown else first


def _position(key: object) -> tuple[Any, ...]:
    """Order keys so that outputs which are close lie side by side."""
    if isinstance(key, int):
        return 0, key, ""
    if isinstance(key, tuple) and key[0] == "float":
        return 1, float.fromhex(key[1]), ""
    return 2, 0, repr(key)


def _pooled(
    observed: NDArray[Any], masses: NDArray[np.float64], size: int
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Join neighboring cells until each holds its share."""
    share = max(LEAST_EXPECTED_IN_CELL / max(size, 1), 1 / MOST_FIT_CELLS)
    starts, total = [0], 0.0
    for index, mass in enumerate(masses[:-1]):
        total += mass
        if total >= share:
            starts.append(index + 1)
            total = 0.0
    return np.add.reduceat(observed, starts), np.add.reduceat(masses, starts)


def _noise_steps(mechanism: object, value: object, sample: Sample) -> NDArray[np.int64] | None:
    """Return the noise in grid steps, or None if output less input is not the noise of the event."""
    event = additive_event(mechanism)
    if event is None or sample.values is None:
        return None
    base = np.asarray(value)
    if base.shape != sample.values.shape[1:] or base.dtype.kind not in "if":
        return None
    if event.grid == 1 and base.dtype.kind == "i" and sample.values.dtype.kind == "i":
        return np.asarray(sample.values - base, np.int64).ravel()
    exponent = event.grid.numerator.bit_length() - event.grid.denominator.bit_length()
    if event.grid != Fraction(2) ** exponent:
        return None
    scaled = np.ldexp(sample.values.astype(np.float64), -exponent)
    entered = steps_of(np.atleast_1d(base.astype(np.float64)), event.grid)
    # Outputs off the grid round to some step; telling them off is the work of `precision`.
    return (np.rint(scaled).astype(np.int64) - entered.reshape(base.shape)).ravel()


def _against_formula(mechanism: object, steps: NDArray[np.int64]) -> float:
    event = additive_event(mechanism)
    if event is None:
        raise AssertionError("the noise is known only of additive events")
    cumulative, reach = _formula(event)
    share = max(LEAST_EXPECTED_IN_CELL / len(steps), 1 / MOST_FIT_CELLS)
    edges, below = [], 0.0
    while below + 2 * share < 1:
        edge = _first(lambda k, goal=below + share: cumulative(k) >= goal, -reach, reach)  # type: ignore[misc]
        if cumulative(edge) + share > 1:
            break
        edges.append(edge)
        below = cumulative(edge)
    masses = np.diff([0.0, *(cumulative(edge) for edge in edges), 1.0])
    cells = np.searchsorted(np.array(edges, np.int64), steps, side="left")
    return chi_square(np.bincount(cells, minlength=len(masses)), masses)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least integer in [low, high] for which a monotone condition holds."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _formula(
    event: DiscreteLaplace | DiscreteGaussian | RoundedGaussian,
) -> tuple[Callable[[int], float], int]:
    """Return P(Y <= k) of the noise in grid steps, and a bound that |Y| never exceeds in practice."""
    if isinstance(event, DiscreteLaplace):
        scale = float(event.scale / event.grid)
        ratio = exp(-1 / scale)

        def laplace(k: int) -> float:
            return 1 - exp(-(k + 1) / scale) / (1 + ratio) if k >= 0 else exp(k / scale) / (1 + ratio)

        return laplace, int(60 * scale) + 60
    sigma = sqrt(event.variance / event.grid**2)
    reach = int(12 * sigma) + 12
    if sigma > _LARGEST_TABLE or isinstance(event, RoundedGaussian):
        # Of the rounded law this is the definition. Of the discrete one it is the midpoint rule: the sum over
        # a cell is the integral, to a part of 1 / (24 sigma^2).
        return lambda k: erfc(-(k + 0.5) / (sigma * sqrt(2))) / 2, reach
    weights = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
    table = np.cumsum(weights) / weights.sum()
    return lambda k: float(table[min(max(k, -reach), reach) + reach]), reach
