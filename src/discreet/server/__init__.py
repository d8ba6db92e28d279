"""A curator as a service: data and budget on one side, people with keys on the other.

The process that talks to the network opens no table; workers do, one question each at a time.

- `keys`: who may ask; `guard`: what every request passes; `catalogue`: what is said instead of an answer.
- `pages`: the same words for a browser, behind the same guard.
- `application`: paths and bodies; `words`: what a worker does for each; `wire_form`: answers as JSON.
- `pool`, `worker`: processes that can be killed; `slots`: when answers leave; `request_log`: what is logged.
- `serving`: from start to stop; `client`: the other end, `dp.connect`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.server.client import Connection, connect

__all__ = ["Connection", "connect"]

publish(__name__, homes={"Connection": "discreet.server.client", "connect": "discreet.server.client"})
