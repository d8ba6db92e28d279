"""The noises of sums over windows: which cells a combination adds up in every row, and what it is off by.

What is added and taken away again cancels: a running sum less the one before it has the noise of one cell.
(Proof: windows, lemma 7.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.request import Part
from discreet.data import Measure
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.combined import CombinedError
from discreet.mechanisms.error.sums import SumError
from discreet.mechanisms.error.weighted import NoiseError
from discreet.privacy.rational import float_above
from discreet.queries.outputs.base import of_several
from discreet.records import dataclass

__all__ = ["MOST_NOISES", "FrameCells", "FramedTerm", "few_enough", "frame_margins", "margin_of_noises"]

MOST_NOISES = 16
"""More noises are not convolved: some twenty tables are what the rounding of `CombinedError` allows for."""
_MOST_CELLS = 1 << 24
"""How many cells of all rows are looked at; beyond, sums over windows are left to interval arithmetic."""
_LARGEST_FACTOR = 1 << 40

_Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrameCells:
    """The groups that a sum over a window takes, for every group of the answer.

    Attributes
    ----------
    order : array of integers
        The groups in the order of their partitions.
    start, end : arrays of integers
        Where in that order the frame of each group begins and ends (exclusive).
    divided : bool
        Whether the sum is divided by how many it adds up.
    """

    order: _Places
    start: _Places
    end: _Places
    divided: bool = False

    def of(self, row: int) -> _Places:
        """Return the groups that the frame of a group has, each once."""
        return self.order[self.start[row] : self.end[row]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FramedTerm:
    """What a combination adds up: the noises of measures, of one cell or of the cells of a frame.

    Attributes
    ----------
    factors : mapping of measures to Fraction
        What the noise of each is multiplied by.
    places : array of integers, or None
        Which cell each row has, -1 for none; None: each its own.
    frames : FrameCells or None
        Or which cells.
    """

    factors: Mapping[Measure, Fraction]
    places: _Places | None = None
    frames: FrameCells | None = None

    def cells(self, row: int) -> _Places:
        """Return the cells of a row."""
        if self.frames is not None:
            return self.frames.of(row)
        place = row if self.places is None else int(self.places[row])
        return np.array([place] if place >= 0 else [], np.int64)

    def divisor(self, row: int) -> int:
        """Return what the sum of a row is divided by."""
        frames = self.frames
        return max(len(frames.of(row)), 1) if frames is not None and frames.divided else 1


def few_enough(rows: int) -> bool:
    """Return whether the noises of windows over so many rows are worked out."""
    return rows * rows <= _MOST_CELLS


def frame_margins(
    terms: Sequence[FramedTerm], parts: Mapping[Measure, Part], rows: int, confidence: Fraction
) -> NDArray[np.float64]:
    """Return what a combination is off by at most in every row, except for the failure probability."""
    known: dict[tuple[tuple[NoiseError, Fraction, int], ...], float] = {}
    margins = np.zeros(rows)
    for row in range(rows):
        noises = _noises(terms, parts, row, rows)
        if noises not in known:
            known[noises] = float_above(margin_of_noises(noises, confidence))
        margins[row] = known[noises]
    return margins


def _noises(
    terms: Sequence[FramedTerm], parts: Mapping[Measure, Part], row: int, rows: int
) -> tuple[tuple[NoiseError, Fraction, int], ...]:
    """Return the laws of the noises of a row, the magnitudes of their factors, and how many there are."""
    divisors = [one.divisor(row) for one in terms]
    scaled = [
        {measure: factor / divisor for measure, factor in one.factors.items()}
        for one, divisor in zip(terms, divisors, strict=True)
    ]
    below = lcm(*(factor.denominator for one in scaled for factor in one.values()))
    large = any(abs(factor) * below > _LARGEST_FACTOR for one in scaled for factor in one.values())
    cells: dict[Measure, NDArray[Any]] = {}
    for term, factors in zip(terms, scaled, strict=True):
        for measure, factor in factors.items():
            if measure not in cells:
                cells[measure] = np.zeros(rows, object if large else np.int64)
            cells[measure][term.cells(row)] += int(factor * below)
    counted: dict[tuple[NoiseError, Fraction], int] = {}
    for measure, sums in cells.items():
        factors_left, times = np.unique(np.abs(sums[sums != 0]), return_counts=True)
        for whole, many in zip(factors_left.tolist(), times.tolist(), strict=True):
            key = (_law(parts[measure]), Fraction(whole, below))
            counted[key] = counted.get(key, 0) + many
    return tuple((law, factor, many) for (law, factor), many in counted.items())


def margin_of_noises(noises: Sequence[tuple[NoiseError, Fraction, int]], confidence: Fraction) -> Fraction:
    """Return a t that a combination of noises exceeds with at most the failure probability.

    Few noises are convolved. Of many, those of one law and one factor are a sum, and each of such sums has an
    equal part of the failure probability.
    """
    if not noises:
        return Fraction(0)
    number = sum(many for _, _, many in noises)
    if number > MOST_NOISES or len(noises) == 1 == number:
        share = of_several(confidence, len(noises))
        return sum(
            (factor * ceil(SumError(law=law, count=many).quantile(share)) for law, factor, many in noises),
            Fraction(0),
        )
    below = lcm(*(factor.denominator for _, factor, _ in noises))
    law = CombinedError(
        laws=tuple(law for law, _, many in noises for _ in range(many)),
        coefficients=tuple(int(factor * below) for _, factor, many in noises for _ in range(many)),
    )
    return Fraction(ceil(law.quantile(confidence)), below)


def _law(part: Part) -> NoiseError:
    assert isinstance(part.mechanism, Laplace | Gaussian)  # noqa: S101
    return part.mechanism.error
