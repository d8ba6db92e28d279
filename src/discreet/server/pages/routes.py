"""The addresses of all pages, and what is shown instead of one."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discreet.server.catalogue import ServiceRefusal, problem_of
from discreet.server.guard import PASSED, App
from discreet.server.pages import asking_pages, counting_pages, entering_pages, reading_pages
from discreet.server.pages.browser import BrowserEntrance
from discreet.server.pages.owning import (
    cap_pages,
    changes,
    check_pages,
    key_pages,
    suggestion_pages,
    table_pages,
)

__all__ = ["pages_application"]

_CODES = {404: "not_found", 405: "not_allowed"}


def pages_application(words: App, browser: BrowserEntrance) -> Starlette:
    """Return the application of the pages.

    Parameters
    ----------
    words : callable
        The application of ``/v1``, which answers all that pages ask.
    browser : BrowserEntrance
        Where sessions and cookies are.
    """
    app = Starlette(
        routes=[
            Route("/", entering_pages.enter),
            Route("/login", entering_pages.login_form, methods=["GET"]),
            Route("/login", entering_pages.log_in, methods=["POST"]),
            Route("/logout", entering_pages.leave, methods=["POST"]),
            Route("/static/{name}", entering_pages.file),
            Route("/data", reading_pages.data),
            Route("/budget", reading_pages.budget),
            Route("/ask", asking_pages.editor, methods=["GET"]),
            Route("/ask", asking_pages.answer, methods=["POST"]),
            Route("/ask/preview", asking_pages.preview, methods=["POST"]),
            Route("/counts", counting_pages.counts_editor, methods=["GET"]),
            Route("/counts", counting_pages.counts_answer, methods=["POST"]),
            Route("/counts/preview", counting_pages.counts_preview, methods=["POST"]),
            Route("/counts/read", counting_pages.read_count, methods=["POST"]),
            Route("/history", asking_pages.history),
            Route("/history/repeat", asking_pages.repeat, methods=["POST"]),
            Route("/history/label", asking_pages.label, methods=["POST"]),
            Route("/ledger", reading_pages.ledger, methods=["GET"]),
            Route("/ledger", reading_pages.verify, methods=["POST"]),
            Route("/ledger/export", reading_pages.export),
            Route("/owner", key_pages.owner),
            Route("/owner/create", key_pages.create, methods=["POST"]),
            Route("/owner/revoke", key_pages.revoke, methods=["POST"]),
            Route("/owner/caps", cap_pages.caps, methods=["GET"]),
            Route("/owner/caps", cap_pages.change_caps, methods=["POST"]),
            Route("/owner/caps/draft", cap_pages.draft_caps, methods=["POST"]),
            Route("/owner/tables", table_pages.tables, methods=["GET"]),
            Route("/owner/tables", table_pages.describe_source, methods=["POST"]),
            Route("/owner/tables/draft", table_pages.draft_table, methods=["POST"]),
            Route("/owner/tables/declare", table_pages.declare_table, methods=["POST"]),
            Route("/owner/agree", changes.agree, methods=["POST"]),
            Route("/owner/withdraw", changes.withdraw, methods=["POST"]),
            Route("/owner/check", check_pages.check_form, methods=["GET"]),
            Route("/owner/check", check_pages.check_table, methods=["POST"]),
            Route("/owner/suggest", suggestion_pages.suggestions, methods=["GET"]),
            Route("/owner/suggest", suggestion_pages.buy_suggestion, methods=["POST"]),
            Route("/owner/suggest/preview", suggestion_pages.price_suggestion, methods=["POST"]),
        ],
        exception_handlers={ServiceRefusal: _problem, HTTPException: _problem, Exception: _problem},
    )
    app.router.redirect_slashes = False
    app.state.words = words
    app.state.browser = browser
    return app


async def _problem(request: Request, error: Exception) -> Response:
    """Show a problem of the catalogue; nothing that was sent is repeated."""
    if isinstance(error, HTTPException):
        error = ServiceRefusal(_CODES.get(error.status_code, "internal"))
    found: dict[str, dict[str, str]] = problem_of(error)  # type: ignore[assignment]
    request.scope[PASSED]["code"] = found["error"]["code"]
    browser: BrowserEntrance = request.app.state.browser
    return browser.refusal(found["error"], request)
