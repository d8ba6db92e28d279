"""How a change of the declaration is shown, made, or agreed to by a second owner."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.page import Page, page_of

__all__ = ["LEADS_AWAY", "agree", "show_waiting", "waiting_for", "withdraw"]

LEADS_AWAY = ("stale_form", "unauthorized", "forbidden")
"""What is refused with a page of its own."""


async def waiting_for(page: Page) -> list[dict[str, Any]]:
    """Return the changes that wait for a second owner."""
    found: list[dict[str, Any]] = (await page.say("owner/proposals"))["proposals"]
    return found


async def agree(request: Request) -> Response:
    """Agree to a change that another owner proposed; it is made."""
    page = page_of(request)
    fields = await page.fields("proposal")
    try:
        done = await page.say("owner/agree", {"proposal": fields["proposal"]})
    except ServiceRefusal as refusal:
        if refusal.code in LEADS_AWAY:
            raise
        status = CATALOGUE[refusal.code].status
        return await show_waiting(page, status=status, problem=page.problem(refusal))
    return await show_waiting(page, done=done)


async def withdraw(request: Request) -> Response:
    """Forget a proposal."""
    page = page_of(request)
    fields = await page.fields("proposal")
    await page.say("owner/withdraw", {"proposal": fields["proposal"]})
    return await show_waiting(page)


async def show_waiting(page: Page, *, status: int = 200, **shown: Any) -> Response:
    """Show what waits for a second owner, and what was done."""
    return page.show(
        "changes.html",
        "owner",
        status=status,
        proposals=await waiting_for(page),
        **{"done": None, "problem": None, **shown},
    )
