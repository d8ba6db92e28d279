"""The random linear term of objective perturbation: its laws, and what is left of epsilon for it.

The minimizer w tells b = -(gradient of all else at w). A row more changes this b by its slope times itself,
of length 1 at most, and the volume around w by a factor between 1 and 1 + c / Lambda. Epsilon pays for both,
and for noise on the answer (docs/proofs/objective_perturbation.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.learning.perturbation.regularization import euclidean_deviation
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.noise import current
from discreet.noise.euclidean import sample_euclidean
from discreet.noise.rounded_gaussian import sample_rounded_gaussian
from discreet.privacy.directed import exp_interval, log_interval
from discreet.privacy.events import Approximate, Pure
from discreet.privacy.neighbors import ADD_REMOVE_PERSON

__all__ = ["EuclideanTerm", "NormalTerm", "PureTerms", "RowTerms", "bent"]

_ANSWER_SHARE = Fraction(1, 64)
"""The part of epsilon that is for noise on the answer."""
_BENT_SHARE = Fraction(1, 2)
"""The largest part of epsilon that second derivatives may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EuclideanTerm:
    """A linear term with density ~ exp(-|b| / scale): its length has the law Gamma(size, scale)."""

    scale: Fraction

    def deviation(self, size: int) -> Fraction:
        """Return the standard deviation of a coordinate."""
        return euclidean_deviation(size, self.scale)

    def draw(self, size: int, step: Fraction) -> list[int]:
        """Return the nearest multiples of the step to an ideal draw, in steps."""
        return sample_euclidean(self.scale / step, size, current())


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalTerm:
    """A linear term of independent normal numbers with standard deviation `scale`."""

    scale: Fraction

    def deviation(self, size: int) -> Fraction:
        """Return the standard deviation of a coordinate."""
        del size
        return self.scale

    def draw(self, size: int, step: Fraction) -> list[int]:
        """Return the nearest multiples of the step to an ideal draw, in steps."""
        drawn: list[int] = sample_rounded_gaussian((self.scale / step) ** 2, size, current()).tolist()
        return drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class PureTerms:
    """Pure epsilon for a person with several rows at once: r / scale for the term."""

    epsilon: Fraction
    rows: int
    columns: int

    @property
    def answer_epsilon(self) -> Fraction:
        """What the noise on the answer costs."""
        return self.epsilon * _ANSWER_SHARE

    @property
    def event(self) -> Pure:
        """Pure epsilon."""
        return Pure(epsilon=self.epsilon, neighbors=ADD_REMOVE_PERSON)

    def least_regularization(self, curvature: Fraction) -> Fraction:
        """Return a Lambda at which second derivatives take half of epsilon at most: log(1 + t) <= t."""
        return curvature * self.rows / (_BENT_SHARE * self.epsilon)

    def term(self, curvature: Fraction, regularization: Fraction) -> EuclideanTerm:
        """Return the term for what is left of epsilon."""
        left = self.epsilon - self.answer_epsilon
        left -= bent(curvature / regularization, rows=self.rows, columns=self.columns)
        return EuclideanTerm(scale=self.rows / left)

    def without_bending(self) -> EuclideanTerm:
        """Return the term where Lambda is large."""
        return EuclideanTerm(scale=self.rows / (self.epsilon - self.answer_epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTerms:
    """Epsilon and delta: each row has its part, as a group of r rows has r parts of epsilon.

    delta is divided by e^0 + e^p + ... + e^((r - 1) p), with p = epsilon / r.
    """

    epsilon: Fraction
    delta: Fraction
    rows: int

    @property
    def row_epsilon(self) -> Fraction:
        """The part of a row."""
        return self.epsilon / self.rows

    @property
    def row_delta(self) -> Fraction:
        """The part of a row, rounded down: delta (e^p - 1) / (e^(r p) - 1)."""
        if self.rows == 1:
            return self.delta
        return self.delta * (exp_interval(self.row_epsilon)[0] - 1) / (exp_interval(self.epsilon)[1] - 1)

    @property
    def answer_epsilon(self) -> Fraction:
        """What the noise on the answer costs, for a row."""
        return self.row_epsilon * _ANSWER_SHARE

    @property
    def event(self) -> Approximate:
        """Epsilon and delta."""
        return Approximate(epsilon=self.epsilon, delta=self.delta, neighbors=ADD_REMOVE_PERSON)

    def least_regularization(self, curvature: Fraction) -> Fraction:
        """Return a Lambda at which second derivatives take half of a row's epsilon at most."""
        return curvature / (_BENT_SHARE * self.row_epsilon)

    def term(self, curvature: Fraction, regularization: Fraction) -> NormalTerm:
        """Return normal noise that is (left, delta)-private for a sensitivity of 1: exactly as much."""
        left = self.row_epsilon - self.answer_epsilon - bent(curvature / regularization, rows=1, columns=1)
        return NormalTerm(scale=1 / largest_mu(left, self.row_delta))

    def without_bending(self) -> NormalTerm:
        """Return the term where Lambda is large."""
        return NormalTerm(scale=1 / largest_mu(self.row_epsilon - self.answer_epsilon, self.row_delta))


def bent(curvature: Fraction, *, rows: int, columns: int) -> Fraction:
    """Return what second derivatives cost, rounded up: k log(1 + curvature rows / k), k the rank at most.

    Parameters
    ----------
    curvature : Fraction
        c / Lambda.
    rows, columns : int
        How many rows are added, and how long they are.
    """
    rank = min(rows, columns)
    return rank * log_interval(1 + curvature * rows / rank)[1]
