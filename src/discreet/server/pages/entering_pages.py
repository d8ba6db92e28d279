"""To log in with a key, and to leave."""

from __future__ import annotations

import hmac

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.guard import PASSED
from discreet.server.pages.browser import BrowserEntrance
from discreet.server.pages.forms import read_fields
from discreet.server.pages.page import TOKEN, page_of
from discreet.server.pages.sessions import drawn
from discreet.server.pages.templates import STATIC, rendered

__all__ = ["enter", "file", "leave", "log_in", "login_form"]

_WRONG = "this is not a valid key: it may be mistyped, expired or revoked"


async def enter(request: Request) -> Response:
    """Lead to the first page."""
    del request
    return RedirectResponse("/pages/data", 303)


async def login_form(request: Request) -> Response:
    """Show where a key is entered."""
    return _form(request)


async def log_in(request: Request) -> Response:
    """Open a session for a key. The form must come from us: its token is in a cookie, too."""
    browser = _browser(request)
    fields = read_fields(await request.body(), (TOKEN, "key"))
    expected = browser.cookie(request.scope, "visitor")
    if not expected or not hmac.compare_digest(fields[TOKEN].encode("utf-8", "replace"), expected.encode()):
        raise ServiceRefusal("stale_form")
    cookie = browser.sessions.open(fields["key"].strip())
    if cookie is None:
        request.scope[PASSED]["code"] = "unauthorized"
        return _form(request, notice=_WRONG, status=CATALOGUE["unauthorized"].status)
    browser.sessions.close(browser.cookie(request.scope, "session"))
    answer = RedirectResponse("/pages/data", 303)
    browser.set_cookie(answer, request, "session", cookie)
    return answer


async def leave(request: Request) -> Response:
    """End the session."""
    page = page_of(request)
    await page.fields()
    return page.browser.leave(request)


async def file(request: Request) -> Response:
    """Return a file that pages load; there are no others than those that are named here."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise ServiceRefusal("not_found")
    kind, content = STATIC[name]
    return Response(content, media_type=kind)


def _form(request: Request, *, notice: str = "", status: int = 200) -> Response:
    token = drawn()
    page = rendered("login.html", visitor=token, notice=notice, session=None, here="")
    answer = HTMLResponse(page, status_code=status)
    _browser(request).set_cookie(answer, request, "visitor", token)
    return answer


def _browser(request: Request) -> BrowserEntrance:
    found: BrowserEntrance = request.app.state.browser
    return found
