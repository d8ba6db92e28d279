"""Suggested bounds and limits: priced first, then bought, and written as they are declared."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.declared_tables import table_views
from discreet.server.pages.owning.changes import LEADS_AWAY
from discreet.server.pages.page import Page, page_of

__all__ = ["buy_suggestion", "price_suggestion", "suggestions"]

_FIELDS = ("table", "column", "epsilon", "delta")


async def suggestions(request: Request) -> Response:
    """Show what can be suggested."""
    page = page_of(request)
    page.check_scope("preview")
    return await _suggestions(page, {"epsilon": "0.1"})


async def price_suggestion(request: Request) -> Response:
    """Show what a suggestion would cost."""
    page = page_of(request)
    fields = await page.fields(*_FIELDS)
    try:
        found = await page.say("suggest/preview", _body(fields))
    except ServiceRefusal as refusal:
        return await _refused(page, fields, refusal)
    return await _suggestions(page, fields, found=found["preview"])


async def buy_suggestion(request: Request) -> Response:
    """Pay, and show what to declare."""
    page = page_of(request)
    fields = await page.fields(*_FIELDS)
    try:
        found = await page.say("suggest", _body(fields))
    except ServiceRefusal as refusal:
        return await _refused(page, fields, refusal)
    return await _suggestions(page, fields, suggested=found)


def _body(fields: dict[str, str]) -> dict[str, Any]:
    stated = {name: typed for name in _FIELDS if (typed := fields[name].strip())}
    return {"table": fields["table"], **stated}


async def _refused(page: Page, fields: dict[str, str], refusal: ServiceRefusal) -> Response:
    if refusal.code in LEADS_AWAY:
        raise refusal
    status = CATALOGUE[refusal.code].status
    return await _suggestions(page, fields, status=status, problem=page.problem(refusal))


async def _suggestions(page: Page, fields: dict[str, str], *, status: int = 200, **shown: Any) -> Response:
    tables = table_views((await page.say("tables"))["tables"])
    return page.show(
        "suggest.html",
        "owner",
        status=status,
        tables=[one for one in tables if one.limits],
        fields={**dict.fromkeys(_FIELDS, ""), **fields},
        **{"found": None, "steps": [], "suggested": None, "problem": None, **shown},
    )
