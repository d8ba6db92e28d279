"""A run under a permit: fixed in advance, counted as a whole, charged step by step."""

from __future__ import annotations

from collections.abc import Callable

from discreet.privacy.events import Event

__all__ = ["PermittedRun"]


class PermittedRun:
    """Where the steps of a run are charged; `Permit.begin` makes it.

    Attributes
    ----------
    event : Event
        The whole run.
    taken : int
        How many charges were recorded for it: more than none if it was begun before a crash.
    """

    def __init__(self, event: Event, taken: int, charge: Callable[[Event], None]) -> None:
        self.event, self.taken, self._charge = event, taken, charge

    def charge(self, event: Event) -> None:
        """Record a step that is about to be taken.

        Raises
        ------
        BudgetExceeded
            If the run does not have it once more, or the permit does not cover it.
        """
        self._charge(event)
        self.taken += 1
