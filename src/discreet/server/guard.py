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
from typing import Any, Protocol, TypeAlias

from discreet.noise.entropy import System
from discreet.server.catalogue import CATALOGUE, ServiceRefusal, problem_of
from discreet.server.keys import SCOPES, AccessKey, KeyFile
from discreet.server.request_log import LoggedRequest, RequestLog
from discreet.server.service_limits import ServiceLimits

__all__ = ["PASSED", "Entrance", "Guard", "header_of"]

Arrival: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Arrival, Receive, Send], Awaitable[None]]

PASSED = "discreet"
"""Where a request carries its key, and what its line in the log will say."""

_PUBLIC = {"/health": "health", "/ready": "ready", "/openapi.json": "openapi"}
_OF_OWNERS = ("sources", "schema", "draft", "amend", "proposals", "agree", "withdraw", "check")
_MORE_WORDS = (
    *("label", "counts", "verify", "keys/revoke", "jobs", "suggest", "suggest/preview"),
    *(f"owner/{word}" for word in _OF_OWNERS),
)
_ARRIVAL_SECONDS = 20.0
_SHORT = 4096
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_HSTS = {"strict-transport-security": "max-age=31536000"}


class Entrance(Protocol):
    """How clients of another kind show their key and send bodies, and how they are refused."""

    content_type: bytes
    policy: str

    def word_of(self, scope: Arrival) -> str | None:
        """Return the word of a request for the log; None if it is not of this kind."""

    def is_open(self, scope: Arrival) -> bool:
        """Return whether a request of this kind needs no key, as one that brings its key does."""

    def key_of(self, scope: Arrival) -> AccessKey | None:
        """Return the key that a request carries, if it is valid now."""

    async def refuse(self, problem: dict[str, Any], scope: Arrival, receive: Receive, send: Send) -> None:
        """Answer with a problem of the catalogue."""


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
    pages : Entrance, optional
        How browsers enter; all others show their key in a header.
    """

    def __init__(
        self,
        app: App,
        *,
        keys: KeyFile,
        limits: ServiceLimits,
        log: RequestLog,
        is_encrypted: bool,
        pages: Entrance | None = None,
    ) -> None:
        self._app = app
        self._keys = keys
        self._limits = limits
        self._log = log
        added = {**_HEADERS, **(_HSTS if is_encrypted else {})}
        self._headers = _encoded(added)
        self._pages = pages
        if pages is not None:
            self._page_headers = _encoded({**added, "content-security-policy": pages.policy})
        self._working: Counter[str] = Counter()
        self._random = System()

    async def __call__(self, scope: Arrival, receive: Receive, send: Send) -> None:
        """Answer a request, by the application or by a problem of the catalogue."""
        if scope["type"] != "http":
            return
        word = None if self._pages is None else self._pages.word_of(scope)
        pages = None if word is None else self._pages
        passed: dict[str, Any] = {"word": _word(scope["path"]) if word is None else word, "key": None}
        number = f"{self._random.bits(64):016x}"
        scope[PASSED] = passed
        status = 0

        async def send_marked(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", []),
                    *(self._headers if pages is None else self._page_headers),
                    (b"x-request-id", number.encode()),
                ]
            await send(message)

        try:
            await self._pass(scope, passed, receive, send_marked, pages)
        except Exception as error:  # nothing that went wrong is told, here or in a log
            if not status:
                await _send_problem(error, scope, send_marked, pages)
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

    async def _pass(
        self, scope: Arrival, passed: dict[str, Any], receive: Receive, send: Send, pages: Entrance | None
    ) -> None:
        if scope["path"] in _PUBLIC:
            await self._app(scope, _replayed(b""), send)
            return
        content_type = b"application/json" if pages is None else pages.content_type
        if pages is not None and pages.is_open(scope):
            await self._app(scope, _replayed(await _body(scope, receive, content_type, _SHORT)), send)
            return
        key = self._keys.find(_token_of(scope)) if pages is None else pages.key_of(scope)
        if key is None:
            raise ServiceRefusal("unauthorized")
        passed["key"] = key
        if self._working[key.prefix] >= self._limits.each:
            raise ServiceRefusal("too_many_requests")
        self._working[key.prefix] += 1
        try:
            body = await _body(scope, receive, content_type, self._limits.body)
            answer: list[MutableMapping[str, Any]] = []
            await self._app(scope, _replayed(body), _kept(answer))
            if self._keys.find_again(key) is None:  # what was charged stays in the store
                raise ServiceRefusal("unauthorized")
            for message in answer:
                await send(message)
        finally:
            self._working[key.prefix] -= 1
            if not self._working[key.prefix]:
                del self._working[key.prefix]


async def _body(scope: Arrival, receive: Receive, expected: bytes, longest: int) -> bytes:
    """Return the whole body, if it is short enough, comes in time, and says that it is what is expected."""
    if scope["method"] != "POST":
        return b""
    content_type = header_of(scope, b"content-type").split(b";")[0].strip().lower()
    if content_type != expected:
        raise ServiceRefusal("not_json" if expected == b"application/json" else "malformed")
    body = bytearray()
    try:
        async with asyncio.timeout(_ARRIVAL_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > longest:
                    raise ServiceRefusal("too_large")
                if message["type"] == "http.disconnect":
                    raise ServiceRefusal("too_slow")  # for the log: nobody hears it
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise ServiceRefusal("too_slow") from None


def _token_of(scope: Arrival) -> str:
    """Return the key that a request carries in its header; never one in its address."""
    scheme, _, token = header_of(scope, b"authorization").partition(b" ")
    return token.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""


def _word(path: str) -> str:
    if path in _PUBLIC:
        return _PUBLIC[path]
    word = path.removeprefix("/v1/").removeprefix("/")
    if word.startswith("jobs/"):
        return "jobs"
    return word if word in (*SCOPES, *_MORE_WORDS) else "other"


def header_of(scope: Arrival, name: bytes) -> bytes:
    """Return a header of a request that has it exactly once; else nothing."""
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


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _send_problem(error: Exception, scope: Arrival, send: Send, pages: Entrance | None) -> None:
    content = problem_of(error)
    code = str(content["error"]["code"])  # type: ignore[index]
    scope[PASSED]["code"] = code
    if pages is not None:
        await pages.refuse(content, scope, _replayed(b""), send)
        return
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": CATALOGUE[code].status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
