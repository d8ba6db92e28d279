"""Connections that say nothing keep nobody out, and do not stay."""

from __future__ import annotations

import asyncio
import socket

import pytest
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from discreet.server import connections
from discreet.server.connections import MOST_CONNECTIONS, BoundedConnection


def connected(service) -> socket.socket:
    host, port = service.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def idle_ones_keep_others_out(service) -> bool:
    """Open as many connections as there may be, and ask on one more."""
    idle = [connected(service) for _ in range(MOST_CONNECTIONS + 8)]
    try:
        return service.send("GET", "/health").status_code != 200
    finally:
        for one in idle:
            one.close()


def test_S11_idle_connections_make_room(service):
    """The control is in `test_planted`."""
    assert not idle_ones_keep_others_out(service)


async def answer(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


async def is_ended(protocol: type, sent: bytes, monkeypatch) -> bool:
    """Whether a connection ends on which a few bytes come now and then, and never a whole request."""
    monkeypatch.setattr(connections, "_ARRIVAL_SECONDS", 0.05)
    monkeypatch.setattr(connections, "_LOOK_SECONDS", 0.01)
    config, state = Config(answer, log_config=None, lifespan="off"), ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        for _ in range(40):
            writer.write(sent)
            await asyncio.sleep(0.01)
            if reader.at_eof() or reader.exception() is not None:
                return True
        return False
    finally:
        writer.close()
        for one in list(state.connections):
            one.transport.abort()
        server.close()


@pytest.mark.parametrize(("protocol", "ended"), [(BoundedConnection, True), (H11Protocol, False)])
def test_S11_a_request_that_never_arrives_is_not_waited_for(protocol, ended, monkeypatch):
    """The control is the same connection without bounds."""
    assert asyncio.run(is_ended(protocol, b"g", monkeypatch)) == ended
