"""Forks wait for open SQLite connections, because a connection must not cross a fork.

A child that inherits an open connection inherits SQLite's view of its locks, which the kernel did
not give it, and may roll its parent's transaction back when it exits
(https://www.sqlite.org/howtocorrupt.html, section 2.6). Connections are open inside transactions only; so a
fork waits until no other thread is inside one, and new ones wait for the fork.

A fork by the thread that is inside a transaction cannot wait. Its child is refused.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.curator.ledger import messages
from discreet.errors import LedgerUnavailable

__all__ = ["ForkGate", "gate"]


class ForkGate:
    """Counts threads inside, and blocks forks meanwhile."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside: dict[int, int] = {}
        self._forking = False
        self._inherited = False

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Keep other threads from forking inside the block.

        Raises
        ------
        LedgerUnavailable
            In a child that was forked inside a block.
        """
        thread = threading.get_ident()
        with self._changed:
            if self._inherited:
                raise LedgerUnavailable(messages.INSIDE_FORK)
            while self._forking and thread not in self._inside:
                self._changed.wait()
            self._inside[thread] = self._inside.get(thread, 0) + 1
        try:
            yield
        finally:
            with self._changed:
                self._inside[thread] -= 1
                if not self._inside[thread]:
                    del self._inside[thread]
                    self._changed.notify_all()

    def before_fork(self) -> None:
        """Wait until only the forking thread may be inside, and let no other enter."""
        with self._changed:
            while self._forking:
                self._changed.wait()
            self._forking = True
            while self._inside.keys() - {threading.get_ident()}:
                self._changed.wait()

    def after_fork(self) -> None:
        """Let threads enter again."""
        with self._changed:
            self._forking = False
            self._changed.notify_all()

    def in_child(self) -> None:
        """Start again, with no other thread; remember whether a connection was inherited."""
        self._changed = threading.Condition()
        self._forking = False
        self._inherited = self._inherited or bool(self._inside)


gate = ForkGate()
"""The gate of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=gate.before_fork,
        after_in_parent=gate.after_fork,
        after_in_child=gate.in_child,
    )
