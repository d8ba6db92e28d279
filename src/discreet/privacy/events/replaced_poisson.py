"""The event of Gaussian noise on a Poisson sample of which one unit is replaced."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from discreet.errors import ParameterError
from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.generic import ZeroConcentrated
from discreet.privacy.neighbors import REPLACE_PERSON, Change, Neighbors, check_relation
from discreet.privacy.rational import positive, probability
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["ReplacedPoissonGaussian"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ReplacedPoissonGaussian(Event):
    """Continuous normal noise on a sum over a Poisson sample, where one unit gets other values.

    Every unit comes into the sample with probability `rate`, independently, and then adds a vector of an L2
    norm of at most 1 to the sum; the noise has the standard deviation `noise_multiplier`. A replaced unit
    adds another vector, of up to the opposite direction. (Where units come and go, record
    ``PoissonSampled(Gaussian(...), rate=...)``.)

    Parameters
    ----------
    noise_multiplier : number
        Standard deviation over the largest norm of one unit's vector, greater than 0.
    rate : number
        The probability of each unit, from 0 to 1.
    neighbors : Neighbors
        A relation that replaces one unit.
    """

    noise_multiplier: Fraction
    rate: Fraction
    neighbors: Neighbors = REPLACE_PERSON
    assumption: ClassVar[str] = (
        "Poisson sampling: at every step each unit is in the sample with the recorded rate, "
        "independently of all other units and of all other steps"
    )

    def __init__(
        self, *, noise_multiplier: Number, rate: Number, neighbors: Neighbors = REPLACE_PERSON
    ) -> None:
        self._set(
            rate=probability(rate, "rate"),
            **positive(noise_multiplier=noise_multiplier),
            neighbors=check_relation(neighbors),
        )
        if neighbors.change is not Change.REPLACE or neighbors.size > 1:
            raise ParameterError("neighbors", "is not of the kind that replaces one unit", "such a relation")

    @property
    def pure_epsilon(self) -> Fraction | None:
        """0 where nothing is sampled."""
        return None if self.rate else Fraction(0)

    @property
    def concentrated_rho(self) -> Fraction:
        """That of a vector twice as long, since a mixture is no easier to tell apart."""
        return 2 / self.noise_multiplier**2 if self.rate else Fraction(0)

    def _group(self, size: int) -> Event:
        return ZeroConcentrated(rho=size**2 * self.concentrated_rho, neighbors=self.neighbors.group(size))
