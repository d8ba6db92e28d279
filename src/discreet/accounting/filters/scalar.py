"""Three filters with a budget of one number: pure, zero-concentrated and Gaussian."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, ClassVar

from discreet.accounting.filters.base import Filter
from discreet.accounting.filters.conversion import epsilon_above, rho_below
from discreet.accounting.filters.cost import Rate, concentrated_rate, gaussian_rate, pure_rate
from discreet.errors import ParameterError
from discreet.privacy.decimals import show_above, show_below
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import non_negative, probability
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["GaussianFilter", "PureFilter", "ZeroConcentratedFilter"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PureFilter(Filter):
    """A limit on the sum of epsilons, and one on the sum of deltas.

    Guarantee
    ---------
    All answers together are (epsilon, delta)-differentially private; purely so with delta 0 (Rogers,
    Roth, Ullman & Vadhan 2016; docs/proofs/filters.md, theorem 1).

    Parameters
    ----------
    epsilon : number
        The budget, 0 or greater.
    delta : number
        The budget of events that carry their own delta, below 1.
    neighbors : Neighbors
        The relation, the same for every event.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> budget = PureFilter(1)
    >>> for _ in range(10):
    ...     budget = budget.spend(events.Laplace(epsilon=0.1))
    >>> budget
    <PureFilter: spent epsilon=1 of 1, delta=0 of 0; add-remove person>
    >>> budget.fits(events.Laplace(epsilon=0.1)), PureFilter(1).remaining(events.Laplace(epsilon=0.1))
    (False, 10)
    """

    measure: ClassVar[str] = "pure epsilon"
    title: ClassVar[str] = "pure"

    def __init__(
        self, epsilon: Number, *, delta: Number = 0, neighbors: Neighbors = ADD_REMOVE_PERSON
    ) -> None:
        self._fill(neighbors, (non_negative(epsilon, "epsilon"), small(delta, "delta")))

    @property
    def names(self) -> tuple[str, ...]:
        """Epsilon and delta."""
        return "epsilon", "delta"

    @property
    def _rate(self) -> Rate:
        return pure_rate

    @property
    def guarantee(self) -> PureDP | ApproximateDP:
        """What the limits promise about all answers together."""
        epsilon, delta = self._limits
        if delta == 0:
            return PureDP(epsilon=epsilon, neighbors=self.neighbors)
        return ApproximateDP(epsilon=epsilon, delta=delta, neighbors=self.neighbors)

    @property
    def largest_epsilon(self) -> Fraction:
        """The largest pure epsilon that the next event may have."""
        return self._left[0]

    def _would_fit(self) -> str:
        return f"a pure epsilon of at most {show_below(self.largest_epsilon)}"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ZeroConcentratedFilter(Filter):
    """A limit on the sum of rhos, and one on the sum of deltas.

    Guarantee
    ---------
    Without events that carry a delta, all answers together are rho-zero-concentrated private
    (Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023). With them they are, for every epsilon,
    (epsilon, delta + delta')-private, where rho implies (epsilon, delta'); docs/proofs/filters.md, theorem 2.

    Parameters
    ----------
    rho : number
        The budget, 0 or greater.
    delta : number
        The budget of events that carry their own delta, below 1.
    neighbors : Neighbors
        The relation, the same for every event.
    """

    measure: ClassVar[str] = "rho of zero-concentrated privacy"
    title: ClassVar[str] = "zero-concentrated"

    def __init__(self, rho: Number, *, delta: Number = 0, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._fill(neighbors, (non_negative(rho, "rho"), small(delta, "delta")))

    @classmethod
    def for_target(
        cls,
        epsilon: Number,
        delta: Number,
        *,
        reserved: Number = 0,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> ZeroConcentratedFilter:
        """Return the filter whose rho is the largest that keeps all answers (epsilon, delta)-private.

        Parameters
        ----------
        epsilon, delta : number
            The target; delta is above 0 and below 1.
        reserved : number
            The share of delta, below 1, that is kept for events with their own delta. The rest pays for
            the conversion from rho.
        neighbors : Neighbors
            The relation.
        """
        target, whole, share = (
            non_negative(epsilon, "epsilon"),
            small(delta, "delta"),
            small(reserved, "reserved"),
        )
        if whole == 0:
            raise ParameterError("delta", "is 0, for which no rho is small enough", "above 0 and below 1")
        return cls(rho_below(target, whole * (1 - share)), delta=whole * share, neighbors=neighbors)

    @property
    def names(self) -> tuple[str, ...]:
        """Rho and delta."""
        return "rho", "delta"

    @property
    def _rate(self) -> Rate:
        return concentrated_rate

    @property
    def guarantee(self) -> ZeroConcentratedDP:
        """What the limits promise about all answers together, where no event may carry a delta."""
        rho, delta = self._limits
        if delta:
            raise ParameterError("delta", "is reserved: no rho holds", "0; or ask for approximate(delta)")
        return ZeroConcentratedDP(rho=rho, neighbors=self.neighbors)

    def approximate(self, delta: Number) -> ApproximateDP:
        """Return the (epsilon, delta) that the limits promise, epsilon rounded up.

        Parameters
        ----------
        delta : number
            The delta of the promise, in all: above the reserved one and below 1.
        """
        rho, reserved = self._limits
        whole = small(delta, "delta")
        return promised(
            epsilon_above(rho, max(whole - reserved, Fraction(0))), whole, reserved, self.neighbors
        )

    @property
    def largest_epsilon(self) -> Fraction:
        """The largest pure epsilon that the next event may have, rounded down: epsilon^2 / 2 is its rho."""
        return sqrt_interval(2 * self._left[0])[0]

    def _would_fit(self) -> str:
        rho, epsilon = show_below(self._left[0]), show_below(self.largest_epsilon)
        return f"a rho of at most {rho}, or a pure epsilon of at most {epsilon},"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GaussianFilter(Filter):
    """A limit on the sum of squares of mu, for events that are exactly Gaussian.

    Guarantee
    ---------
    All answers together are mu-Gaussian private: no easier to tell apart than N(0, 1) and N(mu, 1) (Smith &
    Thakurta 2022; Koskela, Tobaben & Honkela 2023; docs/proofs/filters.md, theorem 4).

    Parameters
    ----------
    mu : number
        The budget, 0 or greater.
    neighbors : Neighbors
        The relation, the same for every event.
    """

    mu: Fraction

    measure: ClassVar[str] = "mu of exactly Gaussian privacy"
    title: ClassVar[str] = "Gaussian"

    def __init__(self, mu: Number, *, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        exact = non_negative(mu, "mu")
        self._fill(neighbors, (exact**2,), mu=exact)

    @property
    def names(self) -> tuple[str, ...]:
        """The square of mu."""
        return ("squared mu",)

    @property
    def _rate(self) -> Rate:
        return gaussian_rate

    @property
    def guarantee(self) -> GaussianDP:
        """What the limit promises about all answers together."""
        return GaussianDP(mu=self.mu, neighbors=self.neighbors)

    def _parameters(self) -> dict[str, object]:
        return {"mu": str(self.mu)}

    def _would_fit(self) -> str:
        left = self._left[0]
        if left == 0:
            return "nothing"
        return f"Gaussian noise with a multiplier of at least {show_above(1 / sqrt_interval(left)[0])}"


def promised(epsilon: float, delta: Fraction, reserved: Fraction, neighbors: Neighbors) -> ApproximateDP:
    """Return the record of a converted guarantee, if there is one."""
    if delta < reserved or epsilon == inf:
        raise ParameterError("delta", "leaves nothing for the conversion", "above the reserved delta")
    # The float itself is the bound; the shortest decimal that a float is read as may lie below it.
    return ApproximateDP(epsilon=Fraction(epsilon), delta=delta, neighbors=neighbors)


def small(value: Number, name: str) -> Fraction:
    """Turn a number into its fraction and refuse it unless it lies in [0, 1)."""
    return probability(value, name, one=False)
