"""What was spent, and what may still be spent."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.curator import Account, Request

__all__ = ["Remaining", "Spent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent, including open reservations: readings, not guarantees; only the cap is a guarantee.

    Attributes
    ----------
    epsilon, delta : float
        In this period. Pure epsilons add up, without delta, while the budget covers their sum; otherwise it
        is the least epsilon that is known at the budget's delta or a part of it, and infinity if none is.
    rho : float or None
        In this period, as zero-concentrated privacy; None if no rho is known.
    lifetime_epsilon, lifetime_rho : float
        Since the ledger was opened, regardless of renewals.
    requests : int
        How many charges there were.
    """

    epsilon: float
    delta: float
    rho: float | None
    lifetime_epsilon: float
    lifetime_rho: float | None
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """What may still be spent.

    Attributes
    ----------
    epsilon : float
        The largest pure epsilon that the next request may cost.
    """

    epsilon: float
    _account: Account = field(repr=False)
    _analyst: str = field(repr=False)

    def fits(self, request: Request) -> int:
        """Return how many such requests still fit."""
        return min(one.remaining(request.event) for _, one in self._account.filters(self._analyst))
