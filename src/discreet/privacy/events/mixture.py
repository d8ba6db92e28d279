"""The event of noise on a random contribution, whose size follows a known law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from discreet.errors import ParameterError
from discreet.privacy.events.additive import Gaussian
from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.grouped import Grouped
from discreet.privacy.events.sampling import PoissonSampled
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors, check_relation
from discreet.privacy.rational import non_negative, positive, show
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["MixtureOfGaussians"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class MixtureOfGaussians(Event):
    """Continuous normal noise on a value to which a unit adds a vector of random size.

    With probability p_i, the vector has an L2 norm of at most s_i; with the rest of the probability it is
    0. Which of these happens is drawn for each unit and each run alone, apart from the noise and from all
    other draws, and is not released. With one contribution this is `PoissonSampled` of a
    `Gaussian`; several arise where a unit may take part in more than one of the batches that share
    their noise, as in banded matrix mechanisms.

    Parameters
    ----------
    standard_deviation : number
        Of the noise, greater than 0.
    contributions : pairs (norm, probability)
        Norms of 0 or greater, in the units of `standard_deviation`, and probabilities whose sum is at most
        1. Kept in increasing order; equal norms are put together, and those of norm or
        probability 0, of which something must be left over, are dropped.
    neighbors : Neighbors
        A relation that adds or removes one unit.
    """

    standard_deviation: Fraction
    contributions: tuple[tuple[Fraction, Fraction], ...]
    neighbors: Neighbors = ADD_REMOVE_PERSON
    assumption: ClassVar[str] = (
        "random contributions: at every step each unit's contribution has the recorded probabilities, "
        "independently of all other units, of all other steps and of the noise"
    )

    def __init__(
        self,
        *,
        standard_deviation: Number,
        contributions: Iterable[tuple[Number, Number]],
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        self._set(
            contributions=_checked_contributions(contributions),
            **positive(standard_deviation=standard_deviation),
            neighbors=check_relation(neighbors),
        )
        if neighbors.change is not Change.ADD_REMOVE or neighbors.size > 1:
            raise ParameterError(
                "neighbors", "is not of the kind that adds or removes one unit", "such a relation"
            )

    @property
    def nothing(self) -> Fraction:
        """The probability of no contribution."""
        return 1 - sum((probability for _, probability in self.contributions), start=Fraction(0))

    @property
    def sampled(self) -> Event:
        """The `PoissonSampled` Gaussian of the largest contribution, which is at least as easy to tell apart.

        Raising every contribution to the largest never lowers a divergence
        (docs/proofs/dominating_pairs.md, lemma 6).
        """
        largest = self.contributions[-1][0]
        step = Gaussian(noise_multiplier=self.standard_deviation / largest, neighbors=self.neighbors)
        return PoissonSampled(step, rate=1 - self.nothing)

    @property
    def concentrated_rho(self) -> Fraction:
        """That of the largest contribution, since a mixture is no easier to tell apart."""
        return self.contributions[-1][0] ** 2 / (2 * self.standard_deviation**2)

    def _group(self, size: int) -> Event:
        return Grouped(self, size=size)

    def __repr__(self) -> str:
        pairs = ", ".join(f"({show(norm)}, {show(chance)})" for norm, chance in self.contributions)
        comma = "," if len(self.contributions) == 1 else ""
        relation = "" if self.neighbors == ADD_REMOVE_PERSON else f", neighbors={self.neighbors!r}"
        return (
            f"MixtureOfGaussians(standard_deviation={show(self.standard_deviation)}, "
            f"contributions=({pairs}{comma}){relation})"
        )


def _checked_contributions(
    contributions: Iterable[tuple[Number, Number]],
) -> tuple[tuple[Fraction, Fraction], ...]:
    pairs = list(contributions) if isinstance(contributions, Iterable) else []
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise ParameterError("contributions", "is not a sequence of pairs", "pairs (norm, probability)")
    total: Counter[Fraction] = Counter()
    for norm, probability in pairs:
        total[non_negative(norm, "norm")] += non_negative(probability, "probability")  # type: ignore[assignment]
    if sum(total.values()) > 1:
        raise ParameterError(
            "contributions", "have probabilities that sum to more than 1", "at most 1 in all"
        )
    kept = sorted((norm, Fraction(chance)) for norm, chance in total.items() if norm and chance)
    if not kept:
        raise ParameterError("contributions", "hold none that adds anything", "at least one of positive norm")
    return tuple(kept)
