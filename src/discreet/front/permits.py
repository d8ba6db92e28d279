"""Permits of a curator: budget that is set aside for trusted code, and what becomes of it after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from discreet.curator import Budget, Permit
from discreet.curator import permit as permits
from discreet.front.arguments import refuse_unnamed
from discreet.privacy.events import Event

if TYPE_CHECKING:
    from discreet.front.curator import Curator
    from discreet.privacy.rational import Number

__all__ = ["abandon", "permit", "reopen"]


def permit(
    curator: Curator,
    purpose: str,
    most: Event | Budget | None = None,
    *unnamed: NoReturn,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    analyst: str = "",
) -> Permit:
    """Reserve budget for trusted code that reads rows itself. Never for analysts.

    What it may spend is epsilon, epsilon and delta, or rho, as numbers or as a budget: what all charges keep
    adds up to no more, and charges that add up to no more are not refused, whatever others spend meanwhile.
    A run that is charged at once, or begun by `Permit.begin`, has one epsilon and delta. Or it is an event,
    such as a whole training run, whose steps may then be charged: that mostly takes less of the budget.
    `purpose` is for the record, and names the permit; the share of `analyst` pays.
    """
    refuse_unnamed(unnamed if most is None or isinstance(most, Event | Budget) else (most,))
    relation = curator.budget.neighbors
    event = permits.largest_use(most, epsilon=epsilon, delta=delta, rho=rho, neighbors=relation)
    return Permit(curator, purpose, event, analyst)


def reopen(curator: Curator, permit: str | int, *unnamed: NoReturn, analyst: str = "") -> Permit:
    """Return a permit whose code was killed, to go on with it, or to close it and free the rest.

    What was charged stays charged, and a training run that it records goes on after the last step that
    was charged. It must be certain that the code released nothing that it had not charged; else
    `abandon` it.

    Parameters
    ----------
    permit : str or int
        Its purpose; or the number of its entry, if several open permits have the same purpose.
    analyst : str
        Whose share pays for it, as when it was opened.
    """
    refuse_unnamed(unnamed)
    return permits.reopen_permit(curator, permit, analyst=analyst)


def abandon(curator: Curator, permit: str | int, *, reason: str) -> None:
    """Close a permit whose code crashed, on the record: all it reserved is spent, nothing is freed.

    Without this, or `reopen`, it stays open, and counts in every later period.

    Parameters
    ----------
    permit : str or int
        Its purpose; or the number of its entry, if several open permits have the same purpose.
    reason : str
        Why, for the record.
    """
    permits.abandon_permit(curator, permit, reason=reason)
