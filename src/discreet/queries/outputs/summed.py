"""Noisy integers of many groups added up: draws of a sum, whose error is that of a sum of noises."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.curator.release.averaging import Averaged
from discreet.curator.release.release import as_drawn
from discreet.curator.request.coarse_noise import CoarseNoise
from discreet.curator.request.request import Draw, Output, Part
from discreet.data import CountNonNull, CountRows, Moment, Sum
from discreet.errors import UnsupportedQuery
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.sums import SumError
from discreet.records import dataclass

__all__ = ["Summed", "exact_sums", "has_totals", "noise_adds_up", "summed_draw", "summed_part"]

_LARGEST_NOISE = 2.0**61
"""Sums of noise beyond may not fit into 64 bits with their margins."""
_TAIL = 40
"""No margin is as many deviations of a noise."""
_Noise = Laplace | Gaussian | CoarseNoise | Averaged
_LARGEST_SUM = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """A sum of independent noises: not a mechanism, but with the error of one."""

    error: SumError


@dataclass(frozen=True, slots=True, kw_only=True)
class _SummedPart(Part):
    """A statistic of several groups together."""

    mechanism: Summed  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Nothing is drawn for it, so nothing has to be covered."""


def has_totals(output: Output) -> bool:
    """Return whether an output of several groups together follows from the sums of their measures.

    Counts of rows and of values, sums and moments add up; persons and distinct values may be in several
    groups, and quantiles of groups say nothing about the quantile of all.
    """
    return all(isinstance(one, CountRows | CountNonNull | Sum | Moment) for one in output.measures)


def summed_part(part: Part, count: int) -> Part:
    """Return a part of the sum of a statistic over a number of groups."""
    if count == 1:
        return part
    if not noise_adds_up([part], count):
        raise UnsupportedQuery("the noise is too large to be added up; offer more, or ask for fewer groups")
    assert isinstance(part.mechanism, _Noise)  # noqa: S101
    law = SumError(law=part.mechanism.error, count=count)
    return _SummedPart(statistic=part.statistic, mechanism=Summed(error=law))


def summed_draw(draw: Draw, steps: NDArray[Any], count: int) -> Draw:
    """Return a draw of sums of a statistic over a number of groups.

    Parameters
    ----------
    draw : Draw
        Of the groups.
    steps : array of integers
        The sums, of Python's integers where 64 bits may not hold them. Those beyond 2^62 are cut
        off there, which brings them nearer to true sums that are not as large.
    count : int
        Of how many groups each is.
    """
    cut = np.clip(steps, -_LARGEST_SUM, _LARGEST_SUM).astype(np.int64)
    return Draw(part=summed_part(draw.part, count), steps=as_drawn(cut, [draw]))


def exact_sums(steps: NDArray[np.int64], groups: int) -> NDArray[Any]:
    """Return integers that can be added up over a number of groups without overflow."""
    largest = int(np.abs(np.asarray(steps, np.float64)).max(initial=0.0))
    plain = np.asarray(steps)
    return plain if largest * max(groups, 1) < _LARGEST_SUM else plain.astype(object)


def noise_adds_up(parts: Sequence[Part], groups: int) -> bool:
    """Return whether each group has a noise of its own, and sums over so many of them fit into 64 bits."""
    return all(
        isinstance(part.mechanism, _Noise)
        and groups * sqrt(part.mechanism.error.variance) * _TAIL < _LARGEST_NOISE
        for part in parts
    )
