"""What every request passes before anything reads it, and every answer on its way out.

In this order: a key that is valid now, unless the path is public; not too many requests of that key at once;
a body of bounded size that arrives in time; JSON, if there is a body. So nobody without a key reaches a
parser. Before an answer leaves, whatever it is, the key is looked up again: one that was revoked meanwhile
gets none. Answers get the same headers whatever they are, and exactly one line in the log.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from discreet.noise.entropy import System
from discreet.server.catalogue import CATALOGUE, ServiceRefusal, problem_of
from discreet.server.keys import SCOPES, AccessKey, KeyFile
from discreet.server.request_log import LoggedRequest, RequestLog
from discreet.server.service_limits import ServiceLimits

__all__ = ["PASSED", "Guard", "token_of"]

Arrival: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Arrival, Receive, Send], Awaitable[None]]

PASSED = "discreet"
"""Where a request carries its key, and what its line in the log will say."""

_PUBLIC = {"/health": "health", "/ready": "ready", "/openapi.json": "openapi"}
_ARRIVAL_SECONDS = 20.0
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_HSTS = {"strict-transport-security": "max-age=31536000"}


class Guard:
    """Wraps an application. See the module.

    Parameters
    ----------
    app : callable
        The application, in ASGI.
    keys : KeyFile
        Who may enter.
    limits : ServiceLimits
        How much may be sent, and how many requests of a key are worked on.
    log : RequestLog
        Gets a line for each request.
    is_encrypted : bool
        Whether the server speaks TLS: then browsers are told never to do without.
    """

    def __init__(
        self, app: App, *, keys: KeyFile, limits: ServiceLimits, log: RequestLog, is_encrypted: bool
    ) -> None:
        self._app = app
        self._keys = keys
        self._limits = limits
        self._log = log
        added = {**_HEADERS, **(_HSTS if is_encrypted else {})}
        self._headers = [(name.encode(), value.encode()) for name, value in added.items()]
        self._working: Counter[str] = Counter()
        self._random = System()

    async def __call__(self, scope: Arrival, receive: Receive, send: Send) -> None:
        """Answer a request, by the application or by a problem of the catalogue."""
        if scope["type"] != "http":
            return
        passed: dict[str, Any] = {"word": _word(scope["path"]), "key": None}
        number = f"{self._random.bits(64):016x}"
        scope[PASSED] = passed
        status = 0

        async def send_marked(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", []),
                    *self._headers,
                    (b"x-request-id", number.encode()),
                ]
            await send(message)

        try:
            await self._pass(scope, passed, receive, send_marked)
        except Exception as error:  # nothing that went wrong is told, here or in a log
            if not status:
                await _send_problem(error, passed, send_marked)
        finally:
            key: AccessKey | None = passed["key"]
            self._log.write(
                LoggedRequest(
                    request=number,
                    word=passed["word"],
                    status=status,
                    code=passed.get("code", ""),
                    key="" if key is None else key.prefix,
                    name="" if key is None else key.name,
                    cost=passed.get("cost", ""),
                    slot=passed.get("slot", 0),
                )
            )

    async def _pass(self, scope: Arrival, passed: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["path"] in _PUBLIC:
            await self._app(scope, _replayed(b""), send)
            return
        key = self._keys.find(token_of(scope))
        if key is None:
            raise ServiceRefusal("unauthorized")
        passed["key"] = key
        if self._working[key.prefix] >= self._limits.each:
            raise ServiceRefusal("too_many_requests")
        self._working[key.prefix] += 1
        try:
            body = await self._body(scope, receive)
            answer: list[MutableMapping[str, Any]] = []
            await self._app(scope, _replayed(body), _kept(answer))
            if self._keys.find(token_of(scope)) is None:  # what was charged stays in the store
                raise ServiceRefusal("unauthorized")
            for message in answer:
                await send(message)
        finally:
            self._working[key.prefix] -= 1
            if not self._working[key.prefix]:
                del self._working[key.prefix]

    async def _body(self, scope: Arrival, receive: Receive) -> bytes:
        """Return the whole body, if it is short enough, comes in time, and says that it is JSON."""
        if scope["method"] != "POST":
            return b""
        content_type = _header(scope, b"content-type").split(b";")[0].strip().lower()
        if content_type != b"application/json":
            raise ServiceRefusal("not_json")
        body = bytearray()
        try:
            async with asyncio.timeout(_ARRIVAL_SECONDS):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > self._limits.body:
                        raise ServiceRefusal("too_large")
                    if message["type"] == "http.disconnect":
                        raise ServiceRefusal("too_slow")  # for the log: nobody hears it
                    if not message.get("more_body"):
                        return bytes(body)
        except TimeoutError:
            raise ServiceRefusal("too_slow") from None


def token_of(scope: Arrival) -> str:
    """Return the key that a request carries in its header; never one in its address."""
    scheme, _, token = _header(scope, b"authorization").partition(b" ")
    return token.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""


def _word(path: str) -> str:
    if path in _PUBLIC:
        return _PUBLIC[path]
    word = path.removeprefix("/v1/").removeprefix("/")
    return word if word in (*SCOPES, "label", "counts") else "other"


def _header(scope: Arrival, name: bytes) -> bytes:
    found = [value for key, value in scope["headers"] if key == name]
    return bytes(found[0]) if len(found) == 1 else b""


def _replayed(body: bytes) -> Receive:
    sent = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _kept(answer: list[MutableMapping[str, Any]]) -> Send:
    """Return what takes an answer and keeps it, until it is known that it may leave."""

    async def send(message: MutableMapping[str, Any]) -> None:
        answer.append(message)

    return send


async def _send_problem(error: Exception, passed: dict[str, Any], send: Send) -> None:
    content = problem_of(error)
    code = str(content["error"]["code"])  # type: ignore[index]
    passed["code"] = code
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": CATALOGUE[code].status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
