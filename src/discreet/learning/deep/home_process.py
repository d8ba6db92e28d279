"""The process in which a run began: a fork has a copy of the account, and may not spend it once more."""

from __future__ import annotations

import os

from discreet.errors import LedgerUnavailable

__all__ = ["HomeProcess"]


class HomeProcess:
    """Knows the process that made it.

    Guarantee
    ---------
    `check` returns only there. A fork would go on from the same count of steps, so that two processes take
    the steps that one account is about.
    """

    def __init__(self) -> None:
        self._number = os.getpid()

    def check(self) -> None:
        """Refuse in any other process."""
        if os.getpid() != self._number:
            raise LedgerUnavailable(
                "this run was begun before the process was forked, and belongs to its parent; "
                "no step is taken here: begin another run after the fork, with a record of its own"
            )
