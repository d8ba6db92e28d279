"""A page says words to the application of programs, in the name of the key that passed the guard."""

from __future__ import annotations

import asyncio

from discreet.server.guard import PASSED
from discreet.server.pages.inner_words import say


def test_the_request_that_is_made():
    seen = []

    async def app(scope, receive, send):
        seen.append((scope, await receive()))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b'{"a":', "more_body": True})
        await send({"type": "http.response.body", "body": b"1}"})

    passed = {"key": object()}
    outer = {PASSED: passed, "headers": [(b"cookie", b"secret"), (b"authorization", b"Bearer x")]}
    assert asyncio.run(say(app, outer, "ask", {"question": "é"}, after=3)) == {"a": 1}
    assert asyncio.run(say(app, outer, "tables")) == {"a": 1}
    (first, sent), (second, nothing) = seen
    assert (first["method"], first["path"], first["query_string"]) == ("POST", "/v1/ask", b"after=3")
    assert sent["body"] == b'{"question": "\\u00e9"}'
    assert (second["method"], nothing["body"]) == ("GET", b"")
    assert first[PASSED] is passed, "one line in the log, with what it cost"
    assert {name for name, _ in first["headers"]} == {b"content-type", b"content-length"}
