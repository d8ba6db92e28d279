"""Slopes of a smooth loss of margins, with proven bounds: lines between the entries of a table of integers.

A loss here *is* what a table says: its negative derivative falls from 1 to 0 along straight lines between
2^-10 apart. So it is convex, its slope is never beyond 1, and its second derivative, where there is one, is
at most the steepest line: facts about integers, which no rounding can spoil. Sums over rows are computed with
doubles and a proven bound on their error, or with integers of any length and no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.learning.design.row_blocks import blocks_of
from discreet.learning.design.row_grid import ROW_BITS, GridRows
from discreet.learning.training.score_losses import MarginLoss
from discreet.privacy.directed import sqrt_interval

__all__ = ["SlopeSum", "SmoothSlopes", "signs_of"]

_NODE_BITS = 10  # a margin of 1 has 2^10 lines
_NODE_STEPS = 2**30  # of a slope of 1, in the table
_SUM_BITS = 50  # of a slope of 1, in sums of doubles
# Sums of the low bits, and of the others, are exact: 2^14 rows of 2^12 times 2^25 are below 2^53.
_LOW_BITS = 25
_SCORE_BITS = 40  # of weights whose scores are exact: rows of 2^12 times as much are below 2^53
_FINEST = 1000  # where doubles still have all their bits
_FARTHEST = 40 << _NODE_BITS  # beyond, slopes are 0 or 1
_BEYOND = Fraction(41)  # a larger score is clipped to 40, rounded or not
_ROUNDED = Fraction(1, 2**51) + Fraction(1, 2**50)  # a slope to its last step, and what doubles lose before


@dataclass(frozen=True, slots=True)
class SlopeSum:
    """The sum of slopes times rows, for rows of length 1 at most, and how far it is from the true one."""

    values: tuple[Fraction, ...]
    error: Fraction
    """A bound on the Euclidean length of the difference."""


@dataclass(frozen=True, eq=False)
class SmoothSlopes:
    """The slopes of one loss.

    Parameters
    ----------
    loss : MarginLoss
        Its `slope` is tabulated. It decides what is learned; no guarantee rests on it.
    """

    loss: MarginLoss

    @property
    def curvature(self) -> Fraction:
        """A bound on the second derivatives: that of the loss, and a step for rounding."""
        return Fraction(self.loss.curvature) + Fraction(1 << _NODE_BITS, _NODE_STEPS)

    @cached_property
    def table(self) -> Integers:
        """The negative derivative at each margin k / 2^10, in steps: it falls, and is between 0 and 1."""
        margins = np.arange(-_FARTHEST, _FARTHEST + 1) / 2**_NODE_BITS
        held = np.rint(np.clip(self.loss.slope(margins), 0.0, 1.0) * _NODE_STEPS).astype(np.int64)
        falling: Integers = np.minimum.accumulate(held)
        # What a platform's exponential function does to the last step must not make a line too steep.
        most = int(self.curvature * _NODE_STEPS) >> _NODE_BITS
        if int((falling[:-1] - falling[1:]).max()) > most:
            raise ArithmeticError("the slopes of a loss fall faster than its curvature says")
        return falling

    def rounded_sum(self, rows: GridRows, signs: Floats, weights: Floats) -> SlopeSum:
        """Return the sum at weights, by doubles, with the bound of lemma 2 of the proof.

        Parameters
        ----------
        rows : array (rows, columns)
            In steps: 2^12 of them to 1.
        signs : array (rows,)
            1 or -1: what the score of a row is multiplied by.
        weights : array (columns,)
        """
        high, low = (np.zeros(len(weights), dtype=object) for _ in range(2))
        length = _length(weights)
        coarse = _coarse(weights, length)
        rest = weights - coarse  # exact: fewer bits than the weights have
        for place, part in blocks_of(rows):
            slopes, _ = self._at(part @ coarse + part @ rest, signs[place])
            steps = np.rint(slopes * (2.0**_SUM_BITS / _NODE_STEPS))
            upper = np.floor(steps / 2.0**_LOW_BITS)
            high += (part.T @ (upper * signs[place])).astype(np.int64)
            low += (part.T @ ((steps - upper * 2.0**_LOW_BITS) * signs[place])).astype(np.int64)
        unit = Fraction(1, 1 << (_SUM_BITS + ROW_BITS))
        score = (min(length, _BEYOND) + (len(weights) + 2) * _length(rest)) / 2**52
        return SlopeSum(
            tuple(((one << _LOW_BITS) + two) * unit for one, two in zip(high, low, strict=True)),
            len(rows) * (_ROUNDED + self.curvature * score),
        )

    def exact_sum(self, rows: GridRows, signs: Floats, weights: list[int], bits: int) -> SlopeSum:
        """Return the sum at weights that are multiples of 2^-bits, by integers of any length."""
        shift = ROW_BITS + bits - _NODE_BITS  # of a score, from its own steps to lines
        table, total = self.table.astype(object), np.zeros(len(weights), dtype=object)
        for place, part in blocks_of(rows):
            held, sign = part.astype(np.int64).astype(object), signs[place].astype(np.int64).astype(object)
            scores = (held @ np.array(weights, dtype=object)) * sign
            scores = np.clip(scores, -_FARTHEST << shift, _FARTHEST << shift)
            lines = np.minimum(scores >> shift, _FARTHEST - 1)
            start = (lines + _FARTHEST).astype(np.int64)
            parts = scores - (lines << shift)
            slopes = (table[start] << shift) + (table[start + 1] - table[start]) * parts
            total = total + held.T @ (slopes * sign)
        unit = Fraction(1, _NODE_STEPS << (shift + ROW_BITS))
        return SlopeSum(tuple(int(one) * unit for one in total), Fraction(0))

    def second_derivatives(self, rows: GridRows, signs: Floats, weights: Floats) -> Floats:
        """Return the matrix of second derivatives of the sum of losses, about."""
        found = np.zeros((len(weights), len(weights)))
        for place, part in blocks_of(rows):
            _, bent = self._at(part @ weights, signs[place])
            held = part * np.sqrt(bent)[:, None]
            found += held.T @ held
        return found * (2.0**_NODE_BITS / _NODE_STEPS / 4.0**ROW_BITS)

    def _at(self, scores: Floats, signs: Floats) -> tuple[Floats, Floats]:
        """Return slopes, in steps of the table, and by how much their lines fall."""
        scores = np.clip(scores * (signs * 2.0 ** (_NODE_BITS - ROW_BITS)), -_FARTHEST, _FARTHEST)
        lines = np.minimum(np.floor(scores), _FARTHEST - 1)
        start = lines.astype(np.int64) + _FARTHEST
        falls = (self.table[start] - self.table[start + 1]).astype(np.float64)
        return self.table[start] - falls * (scores - lines), falls


def _length(vector: Floats) -> Fraction:
    """Return the length of a vector of doubles at most."""
    return sqrt_interval(sum((Fraction(one) ** 2 for one in vector.tolist()), Fraction(0)))[1]


def _coarse(weights: Floats, length: Fraction) -> Floats:
    """Return weights rounded to 40 bits of their length: their scores are sums that doubles hold exactly."""
    exponent = length.numerator.bit_length() - length.denominator.bit_length() + 1
    bits = min(_SCORE_BITS - exponent, _FINEST)
    return np.asarray(np.ldexp(np.rint(np.ldexp(weights, bits)), -bits), dtype=np.float64)


def signs_of(labels: Integers) -> Floats:
    """Return 1 for rows of class 1 and -1 for those of class 0."""
    return np.where(np.asarray(labels) == 1, 1.0, -1.0)
