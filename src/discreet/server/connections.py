"""Connections of strangers: none of them can be held for long without asking, and idle ones make room.

Who has no key may still connect. A connection on which nothing is being worked on is ended when its next
request does not arrive in time, or when its answer is not taken; and if there are as many connections as
there may be, a new one takes the place of the one that has been idle for the longest time. So one who opens
connections and says nothing keeps nobody out.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["MOST_CONNECTIONS", "BoundedConnection"]

MOST_CONNECTIONS = 512
_LOOK_SECONDS = 2.0
_ARRIVAL_SECONDS = 20.0
_DELIVERY_SECONDS = 300.0


class BoundedConnection(H11Protocol):
    """One connection. See the module."""

    _idle_since: float
    _next_look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room, begin, and look at it from time to time."""
        idle = [one for one in self.connections if isinstance(one, BoundedConnection) and not one.is_working]
        if len(self.connections) >= MOST_CONNECTIONS and idle:
            oldest = min(idle, key=lambda one: one._idle_since)
            self.connections.discard(oldest)
            oldest.transport.abort()
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking at it."""
        if self._next_look is not None:
            self._next_look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Count from now until the next request."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    @property
    def is_working(self) -> bool:
        """Whether a request is being answered; how long that may take is bounded elsewhere."""
        return self.cycle is not None and not self.cycle.response_complete

    def _look(self) -> None:
        """End it, if it is the client who is waited for, and for too long."""
        now = self.loop.time()
        is_being_taken = self.transport.get_write_buffer_size() > 0
        limit = _DELIVERY_SECONDS if is_being_taken else _ARRIVAL_SECONDS
        if self.is_working:
            self._idle_since = now
        elif now - self._idle_since > limit:
            self.transport.abort()
            return
        self._next_look = self.loop.call_later(_LOOK_SECONDS, self._look)
