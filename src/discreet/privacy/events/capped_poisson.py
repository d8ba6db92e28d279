"""The event of Poisson samples of which no more than a batch is kept: what training loops really do."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.sampling import PoissonSampled, Wrapper, amplified_epsilon, smaller_rho
from discreet.privacy.neighbors import Change
from discreet.privacy.rational import probability, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["CappedPoissonSampled"]


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class CappedPoissonSampled(Wrapper):
    """A release about a Poisson sample that is cut down to a batch where it is too large.

    Every unit comes into the sample with probability `rate`, independently. Of more than `most` units, `most`
    are kept: all sets alike, or the first in an order that does not depend on the data. Fewer are not made up
    for, or by units that add nothing. Where the others already fill the batch, a further unit pushes out one
    of them, which changes the release like two units (docs/proofs/capped_poisson.md).

    Parameters
    ----------
    event : Event
        What was released about the batch, under a relation that adds or removes a unit.
    rate : number
        The probability of each unit, from 0 to 1.
    most : int
        How many units are kept, at least 1.
    population : int
        A public bound on the number of units of any table, at least 1.
    """

    inner: Event
    rate: Fraction
    most: int
    population: int
    assumption: ClassVar[str] = (
        "capped Poisson sampling: at every step each unit is in the sample with the recorded rate, "
        "independently of all other units and steps; of a sample above the cap a random part, or the first "
        "by a public order, is kept; no table has more units than recorded"
    )

    def __init__(self, event: Event, /, *, rate: Number, most: int, population: int) -> None:
        self._wrap(
            event,
            Change.ADD_REMOVE,
            rate=probability(rate, "rate"),
            most=whole(most, "most", least=1, most=10**18),
            population=whole(population, "population", least=1, most=10**18),
        )

    @property
    def uncapped(self) -> PoissonSampled:
        """The same with no cap."""
        return PoissonSampled(self.inner, rate=self.rate)

    @property
    def is_capped(self) -> bool:
        """Whether the others can fill the batch."""
        return self.rate > 0 and self.population - 1 >= self.most

    @property
    def pure_epsilon(self) -> Fraction | None:
        """log(1 + rate (e^(2 epsilon) - 1)), rounded up, where the inner event has an epsilon."""
        epsilon = self.inner.pure_epsilon
        if epsilon is None or not self.is_capped:
            return self.uncapped.pure_epsilon
        return amplified_epsilon(2 * epsilon, self.rate)

    @property
    def concentrated_rho(self) -> Fraction | None:
        """Four times the inner event's, or what the pure epsilon gives."""
        rho = self.inner.concentrated_rho
        if rho is None or not self.is_capped:
            return self.uncapped.concentrated_rho
        return smaller_rho(self.pure_epsilon, 4 * rho)
