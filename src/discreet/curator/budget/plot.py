"""The budget over time: what was spent after every charge, as an account remembers it.

A charge depends on the request and on public facts alone, so the curve reveals nothing about the data. It
shows when questions were asked, and how costly they were: the owner decides who sees it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from discreet.accounting.filters import Odometer
from discreet.curator.budget.account import Account, period_of
from discreet.errors import BudgetExceeded, ParameterError
from discreet.figures import LIMIT, Axes, draw_curve, label_axes, next_style, panels, reference, time_places
from discreet.privacy.rational import float_above
from discreet.records import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.curator.budget.account import ChargeHistory

__all__ = ["SpentAt", "plot_spent", "spent_over_time"]

_MOST_MOMENTS = 400
_MOST_MARKED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentAt:
    """What had been spent by a time, in its period: epsilon, or rho if the cap is one of rho."""

    time: datetime
    spent: float


def plot_spent(account: Account, *, analyst: str | None, ax: Axes | None, label: str | None) -> Axes:
    """Draw what was spent over time, as steps under the cap.

    Parameters
    ----------
    account : Account
        As of now.
    analyst : str or None
        Whose charges are drawn; those of all by default.
    ax : Axes or None
        Where to draw; by default a new figure.
    label : str or None
        What the curve is called in the legend.
    """
    moments = spent_over_time(account, analyst=analyst)
    if not moments:
        raise ParameterError("analyst", "has no charge on the record", "an analyst with one, or None for all")
    (drawn,) = panels(ax)
    times = [moment.time for moment in moments]
    caps = account.caps if analyst is None else account.caps.per_analyst
    what = "rho" if account.caps.epsilon is None else "epsilon"
    x = time_places(drawn, times)
    draw_curve(
        drawn,
        x,
        [moment.spent for moment in moments],
        next_style(drawn),
        label=label or (f"spent by {analyst}" if analyst else "spent"),
        steps="post",
        marked=len(moments) <= _MOST_MARKED,
    )
    cap = None if caps is None else caps.rho if what == "rho" else caps.epsilon
    if cap is not None:
        words = f"{'each analyst: ' if analyst else ''}at most {what} {float(cap):.4g}"
        ends = x if len(x) > 1 else [x[0] - 1, x[0] + 1]
        reference(drawn, [ends[0], ends[-1]], [float(cap)] * 2, label=words, color=LIMIT)
    drawn.set_ylim(bottom=0)
    renews = "" if account.caps.renews is None else f" in each period ({account.caps.renews.value})"
    return label_axes(
        drawn,
        x="time (UTC)",
        y=f"{what} spent{renews}",
        title="Budget over time: readings under a cap",
        about=str(account.caps.neighbors),
    )


def spent_over_time(account: Account, *, analyst: str | None = None) -> list[SpentAt]:
    """Return what was spent after each charge, counted as the account counts it today.

    The last moment of all is what the account says was spent, open reservations included. Caps that were
    amended since do not change what was spent; of many charges some hundred are returned.
    """
    charges = [charge for charge in _charges(account) if analyst in (None, charge.analyst)]
    if not charges:
        return []
    apart = -(-len(charges) // _MOST_MOMENTS)
    found, counted = [], _Counted(account)
    for place, charge in enumerate(charges):
        counted.add(charge)
        if place % apart == 0 or place == len(charges) - 1:
            found.append(SpentAt(time=datetime.fromisoformat(charge.time), spent=counted.spent()))
    if analyst is None:
        last = found[-1].time
        now = (
            _rho(account.counted(account.current).rho)
            if account.caps.epsilon is None
            else account.spent_now()[0]
        )
        found[-1 if found[-1].spent == now else len(found) :] = [SpentAt(time=last, spent=now)]
    return found


class _Counted:
    """An account that is charged again, from the start."""

    def __init__(self, account: Account) -> None:
        empty = replace(account, reserved={}, lifetime=Odometer(neighbors=account.caps.neighbors), charges=0)
        self._account = replace(empty.renewed(""), history=None)

    def add(self, charge: ChargeHistory) -> None:
        """Count a charge, in the period that it lies in."""
        period = period_of(self._account.caps, charge.time)
        if period > self._account.period:
            self._account = self._account.renewed(period)
        try:
            whole = charge.counted_in(self._account.filter_of())
        except BudgetExceeded:  # it was admitted by caps that were amended since
            whole = self._account.filter_of()
        self._account = replace(self._account, whole=whole, current=self._account.current.add(charge.event))

    def spent(self) -> float:
        """Return what was spent in the period."""
        return (
            _rho(self._account.current.rho)
            if self._account.caps.epsilon is None
            else self._account.spent_now()[0]
        )


def _rho(rho: Fraction | None) -> float:
    return float("nan") if rho is None else float_above(rho)


def _charges(account: Account) -> Iterator[ChargeHistory]:
    found, node = [], account.history
    while node is not None:
        found.append(node)
        node = node.before
    return reversed(found)
