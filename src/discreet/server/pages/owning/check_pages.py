"""The check of a declaration: exact counts, on a page that only owners open, and that nothing keeps."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.declared_tables import table_views
from discreet.server.pages.owning.changes import LEADS_AWAY
from discreet.server.pages.page import Page, page_of

__all__ = ["check_form", "check_table"]


async def check_form(request: Request) -> Response:
    """Show which tables can be checked. No row is read."""
    page = page_of(request)
    page.check_scope("check")
    return await _check(page)


async def check_table(request: Request) -> Response:
    """Compare the rows of a table with its declaration, and show the counts."""
    page = page_of(request)
    fields = await page.fields("table")
    try:
        found = await page.say("owner/check", {"table": fields["table"]})
    except ServiceRefusal as refusal:
        if refusal.code in LEADS_AWAY:
            raise
        status = CATALOGUE[refusal.code].status
        return await _check(page, status=status, chosen=fields["table"], problem=page.problem(refusal))
    return await _check(page, chosen=fields["table"], found=found)


async def _check(page: Page, *, status: int = 200, **shown: Any) -> Response:
    tables = table_views((await page.say("tables"))["tables"])
    return page.show(
        "check.html",
        "owner",
        status=status,
        tables=[one.name for one in tables if one.limits],
        **{"chosen": "", "found": None, "problem": None, **shown},
    )
