"""How much may be spent: in all, by each analyst, and in each period."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, log, log10
from typing import TYPE_CHECKING, TypeAlias, cast

from discreet.accounting.filters import PureFilter, RenyiFilter, ZeroConcentratedFilter
from discreet.curator.ledger import Body, Value
from discreet.curator.period import Period
from discreet.errors import ParameterError
from discreet.privacy.directed import log_interval
from discreet.privacy.events import Approximate, Event, Pure, ZeroConcentrated
from discreet.privacy.rational import float_above, non_negative, show

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["Budget", "Cap", "offered"]

Cap: TypeAlias = PureFilter | ZeroConcentratedFilter | RenyiFilter
"""A filter that a budget makes."""

LARGEST = 10**9
"""The largest epsilon or rho of a budget; far smaller ones already protect nobody."""

_RESERVED = Fraction(1, 2)
_DIGITS = 6
_KEPT = 0.9
_LARGEST_GAP = 1e12


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Budget:
    """A cap on everything that is ever released, held whatever is asked and in whatever order.

    Guarantee
    ---------
    With epsilon alone: all answers together are epsilon-differentially private (epsilons add up). With
    epsilon and delta: they are (epsilon, delta)-private; what is limited is the Rényi divergence at one
    fixed order, and half of delta is kept for events that carry a delta of their own. With rho: they are
    rho-zero-concentrated private, and `delta` is what such events may add. All three hold when each
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
        When the caps start anew, at midnight UTC.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    per_analyst: Budget | None
    renews: Period | None
    _renyi: tuple[Fraction, Fraction] | None = field(compare=False)

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        per_analyst: Budget | None = None,
        renews: str | None = None,
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise ParameterError("epsilon", "and rho are both given or both missing", "one of the two")
        exact = non_negative(delta, "delta")
        if exact >= 1:
            raise ParameterError("delta", "is not below 1", "from 0 to below 1, such as 1e-6")
        if per_analyst is not None and (
            not isinstance(per_analyst, Budget) or per_analyst.per_analyst or per_analyst.renews
        ):
            raise ParameterError(
                "per_analyst", "is no budget without caps or renewals of its own", "such as Budget(epsilon=1)"
            )
        target = None if epsilon is None else _loss(epsilon, "epsilon")
        kept = exact * (1 - _RESERVED)
        values = {
            "epsilon": target,
            "delta": exact,
            "rho": None if rho is None else _loss(rho, "rho"),
            "per_analyst": per_analyst,
            "renews": None if renews is None else Period.named(renews),
            "_renyi": _order_and_limit(target, kept) if target is not None and kept else None,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def filter(self) -> Cap:
        """Return the filter that holds this cap, with nothing spent."""
        if self.rho is not None:
            return ZeroConcentratedFilter(self.rho, delta=self.delta)
        assert self.epsilon is not None  # noqa: S101
        if self._renyi is None:
            return PureFilter(self.epsilon)
        order, limit = self._renyi
        return RenyiFilter([order], [limit], delta=self.delta * _RESERVED)

    def to_body(self) -> Body:
        """Write the budget as plain values for a ledger."""
        numbers = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        body: dict[str, Value] = {
            name: None if value is None else str(value) for name, value in numbers.items()
        }
        body["per_analyst"] = None if self.per_analyst is None else self.per_analyst.to_body()
        body["renews"] = None if self.renews is None else self.renews.value
        body["renyi"] = None if self._renyi is None else [str(number) for number in self._renyi]
        return body

    @staticmethod
    def from_body(body: Body) -> Budget:
        """Read what `to_body` wrote. The order and its limit are those of the writer, not chosen again."""
        inner, renyi = body["per_analyst"], body["renyi"]
        budget = Budget(
            epsilon=body["epsilon"],  # type: ignore[arg-type]
            delta=body["delta"],  # type: ignore[arg-type]
            rho=body["rho"],  # type: ignore[arg-type]
            per_analyst=None if inner is None else Budget.from_body(inner),  # type: ignore[arg-type]
            renews=body["renews"],  # type: ignore[arg-type]
        )
        if renyi is not None:
            order, limit = (Fraction(str(number)) for number in cast("list[str]", renyi))
            object.__setattr__(budget, "_renyi", (order, limit))
        return budget

    def __str__(self) -> str:
        name, loss = ("rho", self.rho) if self.epsilon is None else ("epsilon", self.epsilon)
        delta = f", delta {float_above(self.delta):g}" if self.delta else ""
        renews = f", {self.renews.value}" if self.renews else ""
        each = f", each analyst {self.per_analyst}" if self.per_analyst else ""
        return f"{name} {show(loss or Fraction(0))}{delta}{renews}{each}"

    def __repr__(self) -> str:
        return f"Budget({self})"


def offered(
    *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None
) -> Event:
    """Return the event that stands for an offer: the most that what is bought may cost.

    `epsilon` alone buys pure privacy; with `delta`, or as `rho`, normal noise is permitted.
    """
    if (epsilon is None) == (rho is None):
        raise ParameterError("epsilon", "and rho are both given or both missing", "one of the two")
    if rho is not None:
        if delta is not None:
            raise ParameterError("delta", "is given with rho", "rho alone, or epsilon and delta")
        return ZeroConcentrated(rho=rho)
    assert epsilon is not None  # noqa: S101
    return Pure(epsilon=epsilon) if not delta else Approximate(epsilon=epsilon, delta=delta)


def _loss(value: Number, name: str) -> Fraction:
    exact = non_negative(value, name)
    if exact > LARGEST:
        raise ParameterError(name, "is too large to promise anything", f"at most {LARGEST}")
    return exact


def _order_and_limit(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return an order, and the largest divergence there that implies (epsilon, delta).

    A limit B at order a implies epsilon = B + log((a - 1) / a) - (log delta + log a) / (a - 1) (Canonne,
    Kamath & Steinke 2020). Normal noise of rho costs a rho there, so B / a says how much of it fits; greater
    orders admit more of pure requests. The greatest is taken that admits nine tenths of the most normal
    noise. The choice is free; the promise is checked by `RenyiFilter.approximate`. Where epsilon is so
    small that no order is left anything, the limit is 0.
    """
    target, log_delta = float(epsilon), -float(log_interval(1 / delta)[1])

    def difference(order: float) -> float:
        return log((order - 1) / order) - (log_delta + log(order)) / (order - 1)

    gaps = [1.05**power for power in range(-60, 600)]
    orders = [1 + gap for gap in gaps if gap <= _LARGEST_GAP]
    shares = [(target - difference(order)) / order for order in orders]
    least = _KEPT * max(0, *shares)
    chosen = max((order for order, share in zip(orders, shares, strict=True) if share >= least), default=2)
    order = Fraction(round(chosen * 100), 100)
    grid = 10 ** (_DIGITS + max(0, -floor(log10(target)))) if target else 1
    steps, back = max(floor((epsilon - Fraction(difference(float(order)))) * grid), 0), 1
    while steps and RenyiFilter([order], [Fraction(steps, grid)]).approximate(delta).epsilon > epsilon:
        steps, back = max(steps - back, 0), 2 * back
    return order, Fraction(steps, grid)
