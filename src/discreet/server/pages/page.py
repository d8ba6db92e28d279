"""What every page of a session works with: who asks, what a form sent, how words are said and shown."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from discreet.records import dataclass
from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.guard import PASSED, App
from discreet.server.pages.browser import BrowserEntrance
from discreet.server.pages.forms import MOST_FIELDS, read_fields
from discreet.server.pages.history import AskedBefore
from discreet.server.pages.inner_words import say
from discreet.server.pages.sessions import BrowserSession
from discreet.server.pages.templates import rendered

__all__ = ["TOKEN", "Page", "page_of"]

TOKEN = "form_token"  # noqa: S105
"""The field in which a form sends back the token of its session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A request of someone who is logged in.

    Attributes
    ----------
    request : Request
        What the browser asked for.
    session : BrowserSession
        Who asks.
    browser : BrowserEntrance
        Where sessions and cookies are.
    words : callable
        The application of the words.
    """

    request: Request
    session: BrowserSession
    browser: BrowserEntrance
    words: App

    async def fields(self, *known: str, most: int = MOST_FIELDS) -> dict[str, str]:
        """Return what a form sent, if it is a form of this session.

        Raises
        ------
        ServiceRefusal
            If it does not have the token of the session: another site may have made it.
        """
        fields = read_fields(await self.request.body(), (TOKEN, *known), most=most)
        if not self.session.has_token(fields[TOKEN]):
            raise ServiceRefusal("stale_form")
        return fields

    async def say(self, path: str, body: object = None, **query: object) -> dict[str, Any]:
        """Return what ``/v1`` answers to a word.

        Raises
        ------
        ServiceRefusal
            If it answers with a problem.
        """
        found = await say(self.words, self.request.scope, path, body, **query)
        if "error" in found:
            raise ServiceRefusal(found["error"]["code"], found["error"]["message"])
        return found

    def asked(self, number: str) -> AskedBefore:
        """Return a question that the one who is logged in asked before.

        Raises
        ------
        ServiceRefusal
            If they have none of this number.
        """
        found = self.browser.sessions.history.find(self.session.key.name, number)
        if found is None:
            raise ServiceRefusal("not_found")
        return found

    def check_scope(self, scope: str) -> None:
        """Refuse a key that may not do this."""
        if scope not in self.session.key.scopes:
            raise ServiceRefusal("forbidden")

    def show(self, template: str, here: str, *, status: int = 200, **values: object) -> HTMLResponse:
        """Return a page."""
        return HTMLResponse(rendered(template, session=self.session, here=here, **values), status_code=status)

    def problem(self, refusal: ServiceRefusal) -> dict[str, str]:
        """Return what is shown for a refusal within a page, and note its code for the log."""
        self.request.scope[PASSED]["code"] = refusal.code
        message = refusal.message or CATALOGUE[refusal.code].message
        return {"code": refusal.code, "message": message}


def page_of(request: Request) -> Page:
    """Return the page of a request.

    Raises
    ------
    ServiceRefusal
        If nobody is logged in.
    """
    browser, words = request.app.state.browser, request.app.state.words
    session = browser.session_of(request.scope)
    if session is None:  # it ended since the guard looked
        raise ServiceRefusal("unauthorized")
    return Page(request=request, session=session, browser=browser, words=words)
