"""Generic events: only a guarantee is known about the law, not the law itself."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.events.event import Event, stored
from discreet.privacy.grouping import group_delta, group_renyi
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import non_negative, probability, rational, show
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["Approximate", "Pure", "PureEvent", "Renyi", "ZeroConcentrated"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PureEvent(Event):
    """The shape that events with one pure epsilon share; its subclasses name the law."""

    epsilon: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, epsilon: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(epsilon=non_negative(epsilon, "epsilon"), neighbors=check_relation(neighbors))

    @property
    def pure_epsilon(self) -> Fraction:
        """The epsilon itself."""
        return self.epsilon

    def _group(self, size: int) -> Event:
        return Pure(epsilon=size * self.epsilon, neighbors=self.neighbors.group(size))


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Pure(PureEvent):
    """Some law with P(S) <= e^epsilon Q(S) for all neighbors.

    Parameters
    ----------
    epsilon : number
        The bound on the privacy loss, 0 or greater.
    neighbors : Neighbors
        The relation.
    """


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Approximate(Event):
    """Some law with P(S) <= e^epsilon Q(S) + delta for all neighbors.

    Parameters
    ----------
    epsilon : number
        0 or greater.
    delta : number
        Between 0 and 1.
    neighbors : Neighbors
        The relation.
    """

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, epsilon: Number, delta: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(
            epsilon=non_negative(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            neighbors=check_relation(neighbors),
        )

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The epsilon, where delta is 0."""
        return self.epsilon if self.delta == 0 else None

    def _group(self, size: int) -> Event:
        delta = group_delta(self.epsilon, self.delta, size)
        return Approximate(epsilon=size * self.epsilon, delta=delta, neighbors=self.neighbors.group(size))


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ZeroConcentrated(Event):
    """Some law with D_alpha(P || Q) <= rho alpha for every alpha > 1 and all neighbors.

    Parameters
    ----------
    rho : number
        0 or greater.
    neighbors : Neighbors
        The relation.
    """

    rho: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, rho: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(rho=non_negative(rho, "rho"), neighbors=check_relation(neighbors))

    @property
    def concentrated_rho(self) -> Fraction:
        """The rho itself."""
        return self.rho

    def _group(self, size: int) -> Event:
        return ZeroConcentrated(rho=size**2 * self.rho, neighbors=self.neighbors.group(size))


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Renyi(Event):
    """Some law with D_order(P || Q) <= epsilon at each of several orders, for all neighbors.

    Parameters
    ----------
    curve : pairs (order, epsilon)
        At least one; orders above 1, each named once. Kept in increasing order.
    neighbors : Neighbors
        The relation.
    """

    curve: tuple[tuple[Fraction, Fraction], ...]
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(
        self, *, curve: Iterable[tuple[Number, Number]], neighbors: Neighbors = ADD_REMOVE_PERSON
    ) -> None:
        pairs = list(curve) if isinstance(curve, Iterable) else []
        if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            raise ParameterError("curve", "is not a sequence of pairs", "pairs (order, epsilon)")
        points = sorted((rational(order, "order"), non_negative(value, "epsilon")) for order, value in pairs)
        if not points or points[0][0] <= 1:
            raise ParameterError("curve", "has no order, or one that is not above 1", "pairs with order > 1")
        if len({order for order, _ in points}) < len(points):
            raise ParameterError("curve", "names an order twice", "one epsilon for each order")
        self._set(curve=tuple(points), neighbors=check_relation(neighbors))

    def _group(self, size: int) -> Event:
        usable = [point for point in self.curve if point[0] >= 2 ** ((size - 1).bit_length() + 1)]
        # With no order high enough, the highest one says in its refusal which would do.
        grouped = [group_renyi(*point, size) for point in usable or self.curve[-1:]]
        return Renyi(curve=grouped, neighbors=self.neighbors.group(size))

    def __repr__(self) -> str:
        points = ", ".join(f"({show(order)}, {show(epsilon)})" for order, epsilon in self.curve)
        comma = "," if len(self.curve) == 1 else ""
        relation = "" if self.neighbors == ADD_REMOVE_PERSON else f", neighbors={self.neighbors!r}"
        return f"Renyi(curve=({points}{comma}){relation})"
