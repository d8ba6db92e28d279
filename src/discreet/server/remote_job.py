"""A job on a server, from the side of the one who asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from discreet.curator import Release
from discreet.errors import ParameterError, ServerRefused
from discreet.server.wire_form import received
from discreet.visible import visible

__all__ = ["RemoteJob"]

_FIRST_SECONDS = 0.1
_LONGEST_SECONDS = 5.0


class RemoteJob:
    """A question that a server is answering. `Connection.submit` makes it.

    A server that was started again knows no jobs; then the question is sent once more, and costs nothing if
    it was charged.
    """

    def __init__(
        self,
        *,
        start: Callable[[], Mapping[str, Any]],
        look: Callable[[str], Mapping[str, Any]],
        answer: Callable[[], Release],
        error: Callable[[object], Exception],
    ) -> None:
        self._start = start
        self._look = look
        self._answer = answer
        self._error = error
        self._told = start()
        with received():
            self._identifier = _identifier(self._told)

    def __repr__(self) -> str:
        return f"RemoteJob({visible(self._told.get('state', ''))})"

    @property
    def state(self) -> str:
        """How far it is: "waiting", "working", "done" or "failed"."""
        with received():
            if self._told["state"] not in {"done", "failed"}:
                self._told = self._looked()
            return visible(self._told["state"])

    def result(self, timeout: float | None = None) -> Release:
        """Wait until it is done, and return its answer.

        Parameters
        ----------
        timeout : float, optional
            For how many seconds to wait at most; by default as long as it takes.

        Raises
        ------
        TimeoutError
            If it is not done by then. It goes on.
        DiscreetError
            What `ask` would have raised.
        """
        if timeout is not None and not timeout >= 0:
            raise ParameterError("timeout", "is not a time", "seconds, 0 or more")
        end = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_SECONDS
        while (state := self.state) != "done":
            if state == "failed":
                raise self._error(self._told.get("problem"))
            if end is not None and time.monotonic() >= end:
                raise TimeoutError("the job is not done yet; it goes on")
            time.sleep(pause if end is None else min(pause, max(0.0, end - time.monotonic())))
            pause = min(2 * pause, _LONGEST_SECONDS)
        return self._answer()

    def _looked(self) -> Mapping[str, Any]:
        try:
            return self._look(self._identifier)
        except ServerRefused as refused:
            if refused.code != "not_found":
                raise
        told = self._start()  # the server was started again
        self._identifier = _identifier(told)
        return told


def _identifier(told: Mapping[str, Any]) -> str:
    """Return the name of a job, if it can stand in an address."""
    found = told["job"]
    if not (isinstance(found, str) and found.isascii() and found.isalnum() and len(found) <= 100):
        raise ValueError
    return found
