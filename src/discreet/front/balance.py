"""What was spent, and what may still be spent."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from discreet.curator import Account, Request
from discreet.errors import ParameterError
from discreet.privacy.decimals import reading, show_below
from discreet.privacy.rational import float_written, rational
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes

__all__ = ["Remaining", "Spent", "spent_of"]


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
    _account: Account | None = field(default=None, repr=False, compare=False)

    def _repr_html_(self) -> str:
        return _table(
            {
                "epsilon": reading(self.epsilon),
                "delta": reading(self.delta),
                "rho": "none known" if self.rho is None else reading(self.rho),
                "epsilon, ever": reading(self.lifetime_epsilon),
                "requests": f"{self.requests:,}",
            },
            "spent: readings, not guarantees",
        )

    def plot(self, analyst: str | None = None, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw what was spent over time, as steps under the cap. It reveals nothing about the data.

        Parameters
        ----------
        analyst : str, optional
            Whose charges are drawn; those of all by default.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        label : str, optional
            What the curve is called in the legend.
        """
        from discreet.curator.budget.plot import plot_spent

        if self._account is None:
            raise ParameterError("spent", "was not read from a ledger", "Curator.spent")
        return plot_spent(self._account, analyst=analyst, ax=ax, label=label)


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

    def _repr_html_(self) -> str:
        largest = show_below(rational(self.epsilon, "epsilon"))
        return _table({"epsilon": largest}, "left: the largest pure epsilon of the next request")

    def fits(self, request: Request) -> int:
        """Return how many such requests still fit."""
        return min(one.remaining(request.event) for _, one in self._account.filters(self._analyst))


def _table(cells: dict[str, str], caption: str) -> str:
    """Write a row of numbers below their names, as HTML; nothing in it was typed by anyone."""
    names = "".join(f"<th>{name}</th>" for name in cells)
    values = "".join(f"<td>{value}</td>" for value in cells.values())
    return f"<table><caption>{caption}</caption><tr>{names}</tr><tr>{values}</tr></table>"


def spent_of(account: Account) -> Spent:
    """Return what an account says was spent."""
    now, ever = account.counted(account.current), account.counted(account.lifetime)
    epsilon, delta = account.spent_now()
    return Spent(
        epsilon=epsilon,
        delta=float_written(delta),
        rho=None if now.rho is None else float_written(now.rho),
        lifetime_epsilon=account.ever_spent()[0],
        lifetime_rho=None if ever.rho is None else float_written(ever.rho),
        requests=account.charges,
        _account=account,
    )
