"""Guarantees: what is promised about a release, as exact records.

Each record states a bound on how the law of a release may differ between neighboring
tables. `group` says what the same release promises to several units at once, `statement`
says it in English.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import ParameterError
from discreet.privacy.decimals import show_above
from discreet.privacy.grouping import group_delta, group_renyi
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, Related, check_relation
from discreet.privacy.rational import non_negative, probability, rational, show, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["ApproximateDP", "GaussianDP", "Guarantee", "PureDP", "RenyiDP", "ZeroConcentratedDP"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PureDP(Related):
    """P(S) <= e^epsilon Q(S) for every set S of outcomes and all laws P, Q of neighbors."""

    epsilon: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, epsilon: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(epsilon=non_negative(epsilon, "epsilon"), neighbors=check_relation(neighbors))

    def group(self, size: int) -> PureDP:
        """Return the guarantee of a group: k epsilon, by k steps along the chain."""
        size = whole(size, "size", least=1)
        return PureDP(epsilon=size * self.epsilon, neighbors=self.neighbors.group(size))

    @property
    def statement(self) -> str:
        """What is promised, in one sentence."""
        return (
            f"{_subject(self.neighbors)} multiplies the probability of any set of outcomes "
            f"by at most e^{show_above(self.epsilon)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ApproximateDP(Related):
    """P(S) <= e^epsilon Q(S) + delta for every set S of outcomes and all laws P, Q of neighbors."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, epsilon: Number, delta: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(
            epsilon=non_negative(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            neighbors=check_relation(neighbors),
        )

    def group(self, size: int) -> ApproximateDP:
        """Return the guarantee of a group: (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)).

        Delta is rounded up, and is at most 1; see `grouping.group_delta` for the proof.
        """
        size = whole(size, "size", least=1)
        return ApproximateDP(
            epsilon=size * self.epsilon,
            delta=group_delta(self.epsilon, self.delta, size),
            neighbors=self.neighbors.group(size),
        )

    @property
    def statement(self) -> str:
        """What is promised, in one sentence."""
        return (
            f"{_subject(self.neighbors)} multiplies the probability of any set of outcomes "
            f"by at most e^{show_above(self.epsilon)} and then adds at most {show_above(self.delta)} to it."
        )


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ZeroConcentratedDP(Related):
    """D_alpha(P || Q) <= rho alpha for every order alpha > 1 and all laws P, Q of neighbors."""

    rho: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, rho: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(rho=non_negative(rho, "rho"), neighbors=check_relation(neighbors))

    def group(self, size: int) -> ZeroConcentratedDP:
        """Return the guarantee of a group: k^2 rho, by `grouping.chain` along the chain."""
        size = whole(size, "size", least=1)
        return ZeroConcentratedDP(rho=size**2 * self.rho, neighbors=self.neighbors.group(size))

    @property
    def statement(self) -> str:
        """What is promised, in one sentence."""
        return (
            f"{_subject(self.neighbors)} changes the law of the outcome, in Rényi divergence of any "
            f"order alpha > 1, by at most {show_above(self.rho)} times alpha."
        )


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class RenyiDP(Related):
    """D_order(P || Q) <= epsilon, at one order > 1, for all laws P, Q of neighbors."""

    order: Fraction
    epsilon: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, order: Number, epsilon: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        exact = rational(order, "order")
        if exact <= 1:
            raise ParameterError("order", "is not above 1", "greater than 1")
        self._set(order=exact, epsilon=non_negative(epsilon, "epsilon"), neighbors=check_relation(neighbors))

    def group(self, size: int) -> RenyiDP:
        """Return the guarantee of a group of up to 2^c: (order / 2^c, 3^c epsilon) if order >= 2^(c + 1).

        Lower orders are refused; see `grouping.group_renyi`.
        """
        size = whole(size, "size", least=1)
        order, epsilon = group_renyi(self.order, self.epsilon, size)
        return RenyiDP(order=order, epsilon=epsilon, neighbors=self.neighbors.group(size))

    @property
    def statement(self) -> str:
        """What is promised, in one sentence."""
        return (
            f"{_subject(self.neighbors)} changes the law of the outcome, in Rényi divergence of "
            f"order {show(self.order)}, by at most {show_above(self.epsilon)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class GaussianDP(Related):
    """Telling two neighbors apart is at least as hard as telling N(0, 1) from N(mu, 1)."""

    mu: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, mu: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(mu=non_negative(mu, "mu"), neighbors=check_relation(neighbors))

    def group(self, size: int) -> GaussianDP:
        """Return the guarantee of a group: k mu (Dong, Roth & Su 2022, Theorem 2.14)."""
        size = whole(size, "size", least=1)
        return GaussianDP(mu=size * self.mu, neighbors=self.neighbors.group(size))

    @property
    def statement(self) -> str:
        """What is promised, in one sentence."""
        return (
            f"{_subject(self.neighbors)} is at least as hard to detect as a shift of a standard normal "
            f"variable by {show_above(self.mu)}, seen once."
        )


Guarantee: TypeAlias = PureDP | ApproximateDP | ZeroConcentratedDP | RenyiDP | GaussianDP
"""Any of the guarantees."""


def _subject(neighbors: Neighbors) -> str:
    return neighbors.phrase[0].upper() + neighbors.phrase[1:]
