"""The event of a matrix mechanism: correlated Gaussian noise on what units add at several steps."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.events.additive import Gaussian
from discreet.privacy.events.event import stored
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import positive, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["MatrixGaussian"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class MatrixGaussian(Gaussian):
    """Continuous normal noise on C X: a strategy C times what was added at every step.

    A unit takes part in at most `most` steps, any two of them at least `separation` apart, and adds a vector
    of an L2 norm of at most 1 in each. `sensitivity` bounds how far C X can then move; the noise has the
    standard deviation ``noise_multiplier * sensitivity``. All steps together are one Gaussian of that
    multiplier, even if what is added depends on the answers before it, since C is lower triangular
    (docs/proofs/matrix.md). `accounting.participation` finds the sensitivity.

    Parameters
    ----------
    noise_multiplier : number
        Standard deviation of the noise over `sensitivity`, greater than 0.
    sensitivity : number
        The most that C X moves between neighbors, in L2, greater than 0.
    steps : int
        How many steps there are, at least 1.
    separation : int
        The least distance between two steps of one unit, from 1 to `steps`.
    most : int
        In how many steps a unit takes part, at least 1 and no more than fit.
    neighbors : Neighbors
        The relation. Under one that replaces, the sensitivity is that of a replaced unit.
    """

    sensitivity: Fraction
    steps: int
    separation: int
    most: int

    def __init__(
        self,
        *,
        noise_multiplier: Number,
        sensitivity: Number,
        steps: int,
        separation: int,
        most: int,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        number = whole(steps, "steps", least=1)
        apart = whole(separation, "separation", least=1, most=number)
        fitting = -(-number // apart)
        if whole(most, "most", least=1) > fitting:
            raise ParameterError("most", "is more than fits", f"at most {fitting} steps {apart} apart")
        self._set(
            **positive(noise_multiplier=noise_multiplier, sensitivity=sensitivity),
            steps=number,
            separation=apart,
            most=int(most),
            neighbors=check_relation(neighbors),
        )

    @property
    def standard_deviation(self) -> Fraction:
        """Of the noise, in the units of the vectors that are added."""
        return self.noise_multiplier * self.sensitivity
