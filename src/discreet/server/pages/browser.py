"""How browsers pass the guard: by the cookie of a session, with forms instead of JSON, refused by a page."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.server.catalogue import CATALOGUE
from discreet.server.guard import Arrival, Receive, Send, header_of
from discreet.server.keys import AccessKey
from discreet.server.pages.sessions import BrowserSession, Sessions
from discreet.server.pages.templates import rendered

__all__ = ["BrowserEntrance"]

_LOGIN = "/pages/login"
_ROOT = "/pages/"
_NAMES = ("ask", "budget", "counts", "data", "history", "ledger", "login", "logout", "owner", "static")
_LOOPBACK = (b"localhost", b"127.0.0.1", b"[::1]")


class BrowserEntrance:
    """The entrance of browsers. See `guard.Entrance`.

    Parameters
    ----------
    sessions : Sessions
        Who is logged in.
    is_encrypted : bool
        Whether the server speaks TLS.
    """

    content_type = b"application/x-www-form-urlencoded"
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )

    def __init__(self, sessions: Sessions, *, is_encrypted: bool) -> None:
        self.sessions = sessions
        self._is_encrypted = is_encrypted

    def word_of(self, scope: Arrival) -> str | None:
        """Return the name of the page; None if no page is asked for."""
        path: str = scope["path"]
        if path == "/" and scope["method"] == "GET":
            return "page"
        if not path.startswith(_ROOT):
            return None
        name = path.removeprefix(_ROOT).split("/")[0]
        return f"page/{name}" if name in _NAMES else "page"

    def is_open(self, scope: Arrival) -> bool:
        """Return whether it is the page to log in, or a file that pages load."""
        path: str = scope["path"]
        return path in ("/", _LOGIN) or path.startswith(f"{_ROOT}static/")

    def key_of(self, scope: Arrival) -> AccessKey | None:
        """Return the key of the session, if both are valid now."""
        session = self.session_of(scope)
        return None if session is None else session.key

    async def refuse(self, problem: dict[str, Any], scope: Arrival, receive: Receive, send: Send) -> None:
        """Answer with a page; one who is not logged in is led to where that is done."""
        answer = self.refusal(problem["error"], Request(scope))
        await answer(scope, receive, send)

    def refusal(self, problem: dict[str, Any], request: Request) -> Response:
        """Return what is shown for a problem, in the words of the catalogue."""
        if problem["code"] == "unauthorized":
            answer: Response = RedirectResponse(_LOGIN, 303)
            self._forget(answer, request)
            return answer
        page = rendered("problem.html", problem=problem, session=self.session_of(request.scope), here="")
        return HTMLResponse(page, status_code=CATALOGUE[problem["code"]].status)

    def leave(self, request: Request) -> Response:
        """End the session of a request, and lead to the login."""
        self.sessions.close(self.cookie(request.scope, "session"))
        return self.refusal({"code": "unauthorized"}, request)

    def session_of(self, scope: Arrival) -> BrowserSession | None:
        """Return the session of a request."""
        cookie = self.cookie(scope, "session")
        return self.sessions.find(cookie) if cookie else None

    def cookie(self, scope: Arrival, kind: str) -> str:
        """Return one of our cookies; empty if it was not sent."""
        try:
            sent = SimpleCookie(header_of(scope, b"cookie").decode("latin-1"))
        except CookieError:
            return ""
        found = sent.get(self._name(scope, kind))
        return "" if found is None else found.value

    def set_cookie(self, answer: Response, request: Request, kind: str, value: str) -> None:
        """Have the browser keep a cookie that no script reads and no other site sends."""
        answer.set_cookie(
            self._name(request.scope, kind),
            value,
            path="/",
            httponly=True,
            samesite="strict",
            secure=self._is_secure(request.scope),
        )

    def _forget(self, answer: Response, request: Request) -> None:
        """Have the browser forget its session."""
        answer.delete_cookie(
            self._name(request.scope, "session"),
            path="/",
            httponly=True,
            samesite="strict",
            secure=self._is_secure(request.scope),
        )

    def _name(self, scope: Arrival, kind: str) -> str:
        """Return a name that browsers accept with encryption only, where there is encryption."""
        return f"__Host-discreet-{kind}" if self._is_secure(scope) else f"discreet-{kind}"

    def _is_secure(self, scope: Arrival) -> bool:
        """Return whether cookies need encryption: unless the browser is on this machine.

        Behind a proxy, which encrypts, a browser asks for another host than the loopback.
        """
        host = header_of(scope, b"host").lower()
        name = host[: host.find(b"]") + 1] if host.startswith(b"[") else host.split(b":")[0]
        return self._is_encrypted or name not in _LOOPBACK
