"""How much may be spent: in all, by each analyst, and in each period."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

from discreet.accounting.filters import Filter, PureFilter, RenyiFilter, UnionFilter, ZeroConcentratedFilter
from discreet.accounting.filters.shares import members_for
from discreet.curator.budget.renewal_calendar import Period
from discreet.curator.ledger import Body, JsonValue
from discreet.errors import ParameterError
from discreet.privacy.events import Approximate, Event, Pure, ZeroConcentrated
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, named_relation
from discreet.privacy.offer import Offer
from discreet.privacy.rational import float_above, non_negative, probability, show
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["Budget", "Cap", "offered"]

Cap: TypeAlias = PureFilter | ZeroConcentratedFilter | RenyiFilter | UnionFilter
"""A filter that a budget makes."""

LARGEST = 10**9
"""The largest epsilon or rho of a budget; far smaller ones already protect no one."""

_RESERVED = Fraction(1, 2)
"""The share of delta that a budget of a single order, as old ledgers record it, keeps for events with one."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Budget(Record):
    """A cap on everything that is ever released, for any questions in any order.

    Guarantee
    ---------
    With epsilon alone: all answers together are epsilon-differentially private (epsilons add up). With
    epsilon and delta: they are (epsilon, delta)-private, counted in several ways at once of which one must
    fit: the sum of pure epsilons; the sum of epsilons and deltas, where a run that is fixed in advance has
    its tight ones; Rényi divergence at fixed orders; and the sum of squares of mu (`UnionFilter`). With rho:
    they are rho-zero-concentrated private, and `delta` is what such events may add. All three hold when each
    request is chosen after seeing all answers before it (docs/proofs/filters.md). With `renews`, this holds
    for every period on its own; over several periods budgets add up.

    Parameters
    ----------
    epsilon : number, optional
        The cap, or the cap at a delta.
    delta : number
        Below 1.
    rho : number, optional
        The cap under zero-concentrated privacy, instead of epsilon.
    per_analyst : Budget, optional
        A cap for each analyst, under the cap for all: analysts who share answers together stay below it.
    renews : {"daily", "weekly", "monthly", "quarterly", "yearly"}, optional
        When the caps start again, at midnight UTC.
    neighbors : Neighbors or str
        Whose presence or values are protected: a person by default. With "edges" the tables are a `Graph`,
        and with "replace-one" a `FixedTable`, with questions of their own; SQL is about persons. Under any
        relation permits can be charged, by events of that relation.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    per_analyst: Budget | None
    renews: Period | None
    neighbors: Neighbors
    _members: tuple[Filter, ...] | None = field(compare=False)
    _renyi: tuple[Fraction, Fraction] | None = field(compare=False)

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        per_analyst: Budget | None = None,
        renews: str | None = None,
        neighbors: Neighbors | str = ADD_REMOVE_PERSON,
    ) -> None:
        neighbors = named_relation(neighbors)
        if (epsilon is None) == (rho is None):
            raise ParameterError("epsilon", "and rho are both given or both missing", "one of the two")
        exact = probability(delta, "delta", one=False)
        if per_analyst is not None and (
            not isinstance(per_analyst, Budget) or per_analyst.per_analyst or per_analyst.renews
        ):
            raise ParameterError(
                "per_analyst", "is not a plain budget, without caps or renewals", "such as Budget(epsilon=1)"
            )
        if per_analyst is not None and per_analyst.neighbors != neighbors:
            raise ParameterError("per_analyst", "has another neighbor relation", "the same one")
        target = None if epsilon is None else _loss(epsilon, "epsilon")
        self._set(
            epsilon=target,
            delta=exact,
            rho=None if rho is None else _loss(rho, "rho"),
            per_analyst=per_analyst,
            renews=None if renews is None else Period.named(renews),
            neighbors=neighbors,
            _members=members_for(target, exact, neighbors) if target is not None and exact else None,
            _renyi=None,
        )

    def filter(self) -> Cap:
        """Return the filter of this cap, with nothing spent."""
        if self.rho is not None:
            return ZeroConcentratedFilter(self.rho, delta=self.delta, neighbors=self.neighbors)
        assert self.epsilon is not None  # noqa: S101
        if self._renyi is not None:
            order, limit = self._renyi
            return RenyiFilter([order], [limit], delta=self.delta * _RESERVED)
        if self._members is not None:
            return UnionFilter(self.epsilon, self.delta, members=self._members, neighbors=self.neighbors)
        return PureFilter(self.epsilon, neighbors=self.neighbors)

    def check_offer(self, offer: Offer) -> None:
        """Refuse a delta where only pure epsilon is counted: it could not be charged.

        Beside rho it could not be charged wherever there is none; beside epsilon it buys normal noise, too,
        which a cap of rho counts without one.
        """
        caps = [one for one in (self, self.per_analyst) if one is not None]
        if offer.delta is not None and offer.rho is not None and not all(one.delta for one in caps):
            raise ParameterError(
                "delta",
                "is offered with rho, but the budget has none",
                "rho alone, or a budget that has a delta, such as Budget(rho=0.5, delta=1e-6)",
            )
        if offer.delta is not None and any(one.epsilon is not None and not one.delta for one in caps):
            raise ParameterError(
                "delta",
                "is offered, but the budget has none: it counts pure epsilon only",
                "epsilon alone, or a budget that has a delta",
            )

    def check_synthesis(self) -> None:
        """Refuse synthetic tables where only pure epsilon is counted: there, no offer would do."""
        caps = [one for one in (self, self.per_analyst) if one is not None]
        if any(one.epsilon is not None and not one.delta for one in caps):
            raise ParameterError(
                "budget",
                "counts pure epsilon only, which the noise of synthetic tables does not have",
                "a budget with a delta, such as Budget(epsilon=3, delta=1e-6), or one of rho",
            )

    def to_body(self) -> Body:
        """Write the budget as plain values for a ledger."""
        numbers = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        body: dict[str, JsonValue] = {
            name: None if value is None else str(value) for name, value in numbers.items()
        }
        body["per_analyst"] = None if self.per_analyst is None else self.per_analyst.to_body()
        body["renews"] = None if self.renews is None else self.renews.value
        if self.neighbors != ADD_REMOVE_PERSON:  # which bodies of before do not name
            body["neighbors"] = str(self.neighbors)
        if self._members is None or self._renyi is not None:
            body["renyi"] = None if self._renyi is None else [str(number) for number in self._renyi]
        else:
            body["members"] = [cast("Body", one.description) for one in self._members]
        return body

    @staticmethod
    def from_body(body: Body) -> Budget:
        """Read what `to_body` wrote, now or in an earlier version.

        The filters are those of the writer, not chosen again: a recorded order stays the only one.
        """
        inner, members, relation = body["per_analyst"], body.get("members"), body.get("neighbors")
        neighbors = ADD_REMOVE_PERSON if relation is None else Neighbors.from_text(str(relation))
        renyi = body["renyi"] if members is None else None
        budget = Budget(
            epsilon=body["epsilon"],  # type: ignore[arg-type]
            delta=body["delta"],  # type: ignore[arg-type]
            rho=body["rho"],  # type: ignore[arg-type]
            per_analyst=None if inner is None else Budget.from_body(inner),  # type: ignore[arg-type]
            renews=body["renews"],  # type: ignore[arg-type]
            neighbors=neighbors,
        )
        if renyi is not None:
            order, limit = (Fraction(str(number)) for number in cast("list[str]", renyi))
            budget = budget._with(_renyi=(order, limit))
        if members is not None:
            read = tuple(Filter.described(one, neighbors) for one in cast("list[dict[str, object]]", members))
            budget = budget._with(_members=read)
        return budget

    def __str__(self) -> str:
        name, loss = ("rho", self.rho) if self.epsilon is None else ("epsilon", self.epsilon)
        delta = f", delta {float_above(self.delta):g}" if self.delta else ""
        renews = f", {self.renews.value}" if self.renews else ""
        each = f", each analyst {self.per_analyst}" if self.per_analyst else ""
        whom = "" if self.neighbors == ADD_REMOVE_PERSON else f", {self.neighbors.phrase}"
        return f"{name} {show(loss or Fraction(0))}{delta}{renews}{each}{whom}"

    def __repr__(self) -> str:
        return f"Budget({self})"


def offered(
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    neighbors: Neighbors = ADD_REMOVE_PERSON,
) -> Event:
    """Return the event of an offer: the most that it may cost.

    `epsilon` alone buys pure privacy; with `delta`, or as `rho`, normal noise is permitted.
    """
    if (epsilon is None) == (rho is None):
        raise ParameterError("epsilon", "and rho are both given or both missing", "one of the two")
    if rho is not None:
        if delta is not None:
            raise ParameterError("delta", "is given with rho", "rho alone, or epsilon and delta")
        return ZeroConcentrated(rho=rho, neighbors=neighbors)
    assert epsilon is not None  # noqa: S101
    if not delta:
        return Pure(epsilon=epsilon, neighbors=neighbors)
    return Approximate(epsilon=epsilon, delta=delta, neighbors=neighbors)


def _loss(value: Number, name: str) -> Fraction:
    exact = non_negative(value, name)
    if exact > LARGEST:
        raise ParameterError(name, "is too large to promise anything", f"at most {LARGEST}")
    return exact
