"""A filter that holds a fixed Rényi curve, at every one of its orders."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, isfinite
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.accounting.filters.base import RECORDED, Filter
from discreet.accounting.filters.conversion import renyi_epsilon_above
from discreet.accounting.filters.cost import FilterCost, Rate
from discreet.accounting.filters.scalar import promised, small
from discreet.errors import ParameterError
from discreet.privacy.decimals import show_below
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import (
    Approximate,
    DiscreteGaussian,
    Event,
    Gaussian,
    Pure,
    RandomizedResponse,
    Renyi,
    RoundedGaussian,
    UnaryEncoding,
    ZeroConcentrated,
)
from discreet.privacy.guarantees import ApproximateDP, RenyiDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import float_above, non_negative, rational, show
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["RenyiFilter"]

# No accountant knows less than rho times the order.
_LINES = Gaussian | RoundedGaussian | DiscreteGaussian | ZeroConcentrated
_ZERO = Fraction(0)
_LEAST = 1e-290
"""Floats below may have lost digits to underflow, and bounds with them."""

_LOCAL = (
    RandomizedResponse | UnaryEncoding
)  # whose epsilon is a logarithm, and never less than its divergence


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RenyiFilter(Filter):
    """A limit on the sum of Rényi divergences at each of several orders, and one on the sum of deltas.

    Every limit must hold. To go on while *some* order still fits is not valid under adaptive
    choice: different answers can then exhaust different orders, and together they exceed them all.

    Guarantee
    ---------
    Without events that carry a delta, all answers together are (order, epsilon)-Rényi private at every order
    (Feldman & Zrnic 2021). With them they are, for every order and epsilon', (epsilon', delta + delta')-
    private, where that order's limit implies (epsilon', delta'); docs/proofs/filters.md, theorem 3.

    Finite precision
    ----------------
    Divergences that are rational are charged exactly. Others are charged as the float that bounds them from
    above, and added up exactly.

    Parameters
    ----------
    orders : iterable of numbers
        Above 1, each once.
    epsilons : iterable of numbers
        The budget at each order, 0 or greater.
    delta : number
        The budget of events that carry their own delta, below 1.
    neighbors : Neighbors
        The relation, the same for every event.
    """

    orders: tuple[Fraction, ...]
    _priced: RenyiRate

    measure: ClassVar[str] = "finite Rényi divergence at every order"
    title: ClassVar[str] = "Rényi"
    drift: ClassVar[Fraction] = RECORDED

    def __init__(
        self,
        orders: Iterable[Number],
        epsilons: Iterable[Number],
        *,
        delta: Number = 0,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        exact = tuple(rational(order, "orders") for order in _several(orders, "orders"))
        limits = tuple(non_negative(epsilon, "epsilons") for epsilon in _several(epsilons, "epsilons"))
        if not exact or min(exact) <= 1 or len(set(exact)) < len(exact):
            raise ParameterError(
                "orders", "are empty, repeat, or are not above 1", "different numbers above 1"
            )
        if len(limits) != len(exact):
            raise ParameterError("epsilons", "are not as many as the orders", "one for each order")
        pairs = sorted(zip(exact, limits, strict=True))
        exact = tuple(order for order, _ in pairs)
        limits = (*(limit for _, limit in pairs), small(delta, "delta"))
        self._fill(neighbors, limits, orders=exact, _priced=RenyiRate(exact))

    @property
    def names(self) -> tuple[str, ...]:
        """The orders, and delta."""
        return (*(f"epsilon at order {show(order)}" for order in self.orders), "delta")

    @property
    def _rate(self) -> Rate:
        return self._priced

    @property
    def guarantee(self) -> tuple[RenyiDP, ...]:
        """What the limits promise about all answers together, where no event may carry a delta."""
        *limits, delta = self._limits
        if delta:
            raise ParameterError("delta", "is reserved: no curve holds", "0; or ask for approximate(delta)")
        return tuple(
            RenyiDP(order=order, epsilon=limit, neighbors=self.neighbors)
            for order, limit in zip(self.orders, limits, strict=True)
        )

    def approximate(self, delta: Number) -> ApproximateDP:
        """Return the (epsilon, delta) that the limits promise, at the best order, epsilon rounded up.

        Parameters
        ----------
        delta : number
            The delta of the promise, in all: above the reserved one and below 1.
        """
        *limits, reserved = self._limits
        whole = small(delta, "delta")
        rest = max(whole - reserved, Fraction(0))
        epsilon = min(map(renyi_epsilon_above, self.orders, limits, [rest] * len(limits)))
        return promised(epsilon, whole, reserved, self.neighbors)

    @property
    def largest_epsilon(self) -> Fraction:
        """A pure epsilon that the next event may have: its divergence is at most min(e, order e^2 / 2)."""
        lefts = zip(self.orders, self._left, strict=False)
        return min(max(left, sqrt_interval(2 * left / order)[0]) for order, left in lefts)

    def _parameters(self) -> dict[str, object]:
        *limits, delta = self._limits
        return {
            "orders": [str(order) for order in self.orders],
            "epsilons": [str(limit) for limit in limits],
            "delta": str(delta),
        }

    def _would_fit(self) -> str:
        return f"a pure epsilon of at most {show_below(self.largest_epsilon)}"


class RenyiRate:
    """What a simple event costs: its divergence at each order, the least that is known, and its delta."""

    __slots__ = ("_floats", "_hash", "orders")

    def __init__(self, orders: tuple[Fraction, ...]) -> None:
        self.orders = orders
        # An order that is not a float is rounded up: a divergence grows with its order.
        self._floats = np.array([float_above(order) for order in orders])
        self._hash = hash(orders)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RenyiRate) and self.orders == other.orders

    def __hash__(self) -> int:
        return self._hash

    def __call__(self, event: Event) -> FilterCost:
        """Return the divergences and the delta."""
        delta = _ZERO
        if isinstance(event, Approximate):
            delta, event = event.delta, Pure(epsilon=event.epsilon, neighbors=event.neighbors)
        if isinstance(event, _LINES):
            rho = event.concentrated_rho
            return *(None if rho is None else rho * order for order in self.orders), delta
        bounds, extra = self._bounds(event)
        if isinstance(event, Renyi):
            # Where an order is not named, the bounds are not above the divergence of the next that is.
            named = dict(event.curve)
            return *map(_least, map(named.get, self.orders), map(_finite, bounds)), extra
        return *self._divergences(event, bounds), delta + extra if extra else delta

    def _bounds(self, event: Event) -> tuple[list[float], Fraction]:
        """Return the bounds of the Rényi accountant, and the delta outside which they hold."""
        from discreet.accounting import renyi

        try:
            return renyi.divergence_at(event, self._floats).tolist(), renyi.exact_extra_delta(event)
        except ParameterError:  # it does not know the event; then only what the event says of itself counts
            return [inf] * len(self.orders), _ZERO

    def _divergences(self, event: Event, bounds: list[float]) -> list[Fraction | None]:
        """Return the least of the bounds, epsilon and rho times the order. All are true: floats choose."""
        if isinstance(event, _LOCAL) and max(bounds) < inf and min(bounds) > _LEAST:
            return [_finite(bound) for bound in bounds]
        epsilon, rho = event.pure_epsilon, event.concentrated_rho
        constant = inf if epsilon is None else float_above(epsilon)
        slope = inf if rho is None else float_above(rho)
        costs = []
        for order, size, bound in zip(self.orders, self._floats.tolist(), bounds, strict=True):
            if _LEAST < bound < constant and bound < slope * size:
                costs.append(_finite(bound))
            elif constant < slope * size:
                costs.append(epsilon)
            else:
                costs.append(None if rho is None else rho * order)
        return costs


def _finite(bound: float) -> Fraction | None:
    return Fraction(bound) if isfinite(bound) else None


def _least(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def _several(values: Iterable[Number], name: str) -> tuple[Number, ...]:
    if isinstance(values, str):
        raise ParameterError(name, "are text", "a sequence of numbers")
    try:
        return tuple(values)
    except TypeError:
        raise ParameterError(name, "are not a sequence", "a sequence of numbers") from None
