"""How a page says a word: to the application that programs use, past the guard that the page has passed.

The request that is made here carries the key of the session, so scopes, bodies, limits, slots and refusals
are those of ``/v1``. Nothing is sent over a network.
"""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlencode

from discreet.server.guard import PASSED, App, Arrival

__all__ = ["say"]


async def say(app: App, outer: Arrival, path: str, body: object = None, **query: object) -> dict[str, Any]:
    """Return what ``/v1`` answers: content, or a problem of the catalogue.

    Parameters
    ----------
    app : callable
        The application of the words.
    outer : mapping
        The request of the browser, which passed the guard.
    path : str
        Below ``/v1/``.
    body : object
        What is posted, as JSON; without one, it is a GET.
    **query : object
        What stands in the address.
    """
    written = b"" if body is None else json.dumps(body).encode()
    address = f"/v1/{path}"
    scope: Arrival = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET" if body is None else "POST",
        "scheme": "http",
        "path": address,
        "raw_path": address.encode(),
        "root_path": "",
        "query_string": urlencode({name: str(one) for name, one in query.items()}).encode(),
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(written)).encode())],
        PASSED: outer[PASSED],
    }
    received = bytearray()

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": written, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        received.extend(message.get("body", b""))

    await app(scope, receive, send)
    found: dict[str, Any] = json.loads(received)
    return found
