"""Whether the time of a release follows the size of its noise.

An observer who sees when an answer arrives must not learn how far it is from the truth (Jin,
McMurtry, Rubinstein & Ohrimenko 2022). The rank correlation of time and noise is zero for
a sampler whose work does not depend on what it draws. Under that hypothesis the noise of
different releases is exchangeable and independent of all times, whatever else the machine
does, so the threshold is exact: drifts and interruptions cost power, not honesty.
"""

from __future__ import annotations

import gc
from math import erfc, sqrt
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.outputs import observe
from discreet.audit.report import Finding
from discreet.audit.samples import Sample, collect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.audit.samples import Auditable

__all__ = ["THRESHOLD", "check_timing", "rank_correlation", "time_releases"]

THRESHOLD = 6.3
"""Standard deviations of the rank correlation, 1 / sqrt(n), beyond which a release leaks: 0.02 at 1e5."""

TIMING_FALSE_ALARM = erfc(THRESHOLD / sqrt(2))

_WARM_UP = 1000
_MEASUREMENTS = 3


def time_releases(mechanism: Auditable, value: object, count: int) -> tuple[NDArray[np.int64], Sample]:
    """Release one value again and again, and return the nanoseconds of each with the outputs."""
    release, clock = mechanism.release, perf_counter_ns
    for _ in range(_WARM_UP):
        observe(release, value)
    times = np.empty(count, np.int64)
    outputs: list[Any] = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        for index in range(count):
            start = clock()
            output = observe(release, value)
            times[index] = clock() - start
            outputs.append(output)
    finally:
        if collecting:
            gc.enable()
    return times, collect(outputs)


def check_timing(mechanism: Auditable, value: object, times: NDArray[np.int64], sample: Sample) -> Finding:
    """Correlate the times of scalar releases with the magnitude of their noise.

    Python keeps the integers from -5 to 256 ready and allocates all others, and zero has no
    digits to add: a matter of ten nanoseconds. That time follows the output, which is public, and
    not the noise behind it: ranks are taken among outputs that are stored alike.

    Where objects happen to lie in memory can favor some table entries by a nanosecond. So a
    correlation beyond the limit is measured twice more, and fails only if all three agree.
    """
    correlation = _correlation(value, times, sample)
    if correlation is None:
        return Finding(
            name="timing",
            verdict="skipped",
            detail="there is no varying difference of output and input to compare with",
        )
    limit = THRESHOLD / sqrt(len(times))
    measured = [correlation]
    while abs(measured[-1]) > limit and measured[-1] * correlation > 0 and len(measured) < _MEASUREMENTS:
        again = _correlation(value, *time_releases(mechanism, value, len(times)))
        measured.append(0.0 if again is None else again)
    failed = abs(measured[-1]) > limit and measured[-1] * correlation > 0
    shown = ", then ".join(f"{figure:+.4f}" for figure in measured)
    return Finding(
        name="timing",
        verdict="failed" if failed else "passed",
        detail=f"rank correlation of time and noise is {shown} over {len(times)} releases;"
        f" up to {limit:.4f} is chance",
        false_alarm=TIMING_FALSE_ALARM,
    )


def _correlation(value: object, times: NDArray[np.int64], sample: Sample) -> float | None:
    if not isinstance(value, int | float) or sample.values is None or sample.values.ndim != 1:
        return None
    return rank_correlation(times, np.abs(sample.values - value), _storage(sample.values))


def rank_correlation(
    first: NDArray[Any], second: NDArray[Any], strata: NDArray[np.int64] | None = None
) -> float | None:
    """Return Spearman's correlation, with ties sharing their mean rank; None without variation.

    With strata, ranks are taken and centered inside each, and the sum of products is divided by
    sqrt(n) times its standard deviation under permutation inside the strata. With a single
    stratum that is Spearman's correlation (times sqrt(1 - 1 / n)).
    """
    strata = np.zeros(len(first), np.int64) if strata is None else strata
    total = variance = 0.0
    for stratum in np.unique(strata):
        inside = strata == stratum
        if inside.sum() < 2:
            continue
        ranks = [_ranks(column[inside]) for column in (first, second)]
        centered = [rank - rank.mean() for rank in ranks]
        total += float((centered[0] * centered[1]).sum())
        squares = [float((column**2).sum()) for column in centered]
        variance += squares[0] * squares[1] / (int(inside.sum()) - 1)
    return total / sqrt(variance * len(first)) if variance else None


def _storage(outputs: NDArray[Any]) -> NDArray[np.int64]:
    """Number the ways in which Python stores outputs: zero, ready integers, digits of 30 bits."""
    if outputs.dtype.kind == "f":
        return np.zeros(len(outputs), np.int64)
    ready = (outputs >= -5) & (outputs <= 256)
    digits = np.where(ready, 1, 2 + (np.abs(outputs) >> 30 != 0))
    return np.where(outputs == 0, 0, digits).astype(np.int64)


def _ranks(column: NDArray[Any]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[inverse], np.float64)
