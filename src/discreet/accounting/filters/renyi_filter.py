"""A filter that holds a fixed Rényi curve, at every one of its orders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.accounting.filters.conversion import renyi_epsilon_above
from discreet.accounting.filters.cost import Cost, Rate
from discreet.accounting.filters.filter import Filter, show_below
from discreet.accounting.filters.kinds import promised, small
from discreet.errors import ParameterError
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import (
    Approximate,
    DiscreteGaussian,
    Event,
    Gaussian,
    Pure,
    Renyi,
    ZeroConcentrated,
)
from discreet.privacy.guarantees import ApproximateDP, RenyiDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import float_above, non_negative, rational, show

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["RenyiFilter"]

_LINES = Gaussian | DiscreteGaussian | ZeroConcentrated  # no accountant knows less than rho times the order


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
        The budget of events that carry a delta of their own, below 1.
    neighbors : Neighbors
        The relation, the same for every event.
    """

    orders: tuple[Fraction, ...]

    measure: ClassVar[str] = "finite Rényi divergence at every order"

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
                "orders", "are none, repeat, or are not above 1", "different numbers above 1"
            )
        if len(limits) != len(exact):
            raise ParameterError("epsilons", "are not as many as the orders", "one for each order")
        pairs = sorted(zip(exact, limits, strict=True))
        exact = tuple(order for order, _ in pairs)
        limits = (*(limit for _, limit in pairs), small(delta, "delta"))
        self._fill(neighbors, limits, orders=exact)

    @property
    def names(self) -> tuple[str, ...]:
        """The orders, and delta."""
        return (*(f"epsilon at order {show(order)}" for order in self.orders), "delta")

    @property
    def _rate(self) -> Rate:
        return RenyiRate(self.orders)

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


@dataclass(frozen=True, slots=True)
class RenyiRate:
    """What a simple event costs: its divergence at each order, the least that is known, and its delta."""

    orders: tuple[Fraction, ...]

    def __call__(self, event: Event) -> Cost:
        """Return the divergences and the delta."""
        delta = Fraction(0)
        if isinstance(event, Approximate):
            delta, event = event.delta, Pure(epsilon=event.epsilon, neighbors=event.neighbors)
        exact = _exact_divergences(event, self.orders)
        if isinstance(event, _LINES):
            return *exact, delta
        bounds, extra = _float_divergences(event, self.orders)
        costs = [_least(known, bound) for known, bound in zip(exact, bounds, strict=True)]
        return (*costs, None if extra is None else delta + extra)


def _exact_divergences(event: Event, orders: tuple[Fraction, ...]) -> list[Fraction | None]:
    if isinstance(event, Renyi):
        # A divergence grows with its order, so that of the next order that is named is a bound.
        return [next((epsilon for named, epsilon in event.curve if named >= order), None) for order in orders]
    epsilon, rho = event.pure_epsilon, event.concentrated_rho
    return [_least(epsilon, None if rho is None else rho * order) for order in orders]


def _float_divergences(
    event: Event, orders: tuple[Fraction, ...]
) -> tuple[list[Fraction | None], Fraction | None]:
    """Return the bounds of the Rényi accountant. An order that is no float is rounded up: that bounds it."""
    from discreet.accounting import renyi

    try:
        bounds = renyi.divergence(event, np.array([float_above(order) for order in orders]))
        return [_finite(float(bound)) for bound in bounds], _finite(float(renyi.extra_delta(event)))
    except ParameterError:  # it does not know the event; then only what the event says of itself counts
        return [None] * len(orders), Fraction(0)


def _finite(bound: float) -> Fraction | None:
    return max(Fraction(bound), Fraction(0)) if isfinite(bound) else None


def _least(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return min((bound for bound in (first, second) if bound is not None), default=None)


def _several(values: Iterable[Number], name: str) -> tuple[Number, ...]:
    if isinstance(values, str):
        raise ParameterError(name, "are text", "a sequence of numbers")
    try:
        return tuple(values)
    except TypeError:
        raise ParameterError(name, "are no sequence", "a sequence of numbers") from None
