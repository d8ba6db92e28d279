"""Caps: who spent what of them, and what is left; and how an owner changes them, on the record."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.budget_gauge import gauge_of, gauges_of_analysts
from discreet.server.pages.owning.changes import LEADS_AWAY, show_waiting, waiting_for
from discreet.server.pages.page import Page, page_of

__all__ = ["caps", "change_caps", "draft_caps"]

_NUMBERS = ("epsilon", "delta", "rho")
_FIELDS = (*_NUMBERS, *(f"each_{name}" for name in _NUMBERS), "reason", "digest")


async def caps(request: Request) -> Response:
    """Show caps, and what each analyst spent and has left."""
    return await _caps(page_of(request))


async def draft_caps(request: Request) -> Response:
    """Show what a change of caps would write. Nothing is written."""
    page = page_of(request)
    fields = await page.fields(*_FIELDS)
    try:
        found = await page.say("owner/draft", {"budget": _stated(fields)})
    except ServiceRefusal as refusal:
        return await _refused(page, fields, refusal)
    return await _caps(page, fields=fields, draft=found)


async def change_caps(request: Request) -> Response:
    """Change caps, in the file and in the ledger, or propose it to a second owner."""
    page = page_of(request)
    fields = await page.fields(*_FIELDS)
    body = {"reason": fields["reason"].strip(), "expected": fields["digest"]}
    try:
        done = await page.say("owner/amend", {"budget": _stated(fields), **body})
    except ServiceRefusal as refusal:
        return await _refused(page, fields, refusal)
    return await show_waiting(page, done=done)


def _stated(fields: dict[str, str]) -> dict[str, Any]:
    """Return the caps that were typed; empty fields change nothing."""
    own = {name: fields[name].strip() for name in _NUMBERS if fields[name].strip()}
    each = {name: typed for name in _NUMBERS if (typed := fields[f"each_{name}"].strip())}
    if not own and not each:
        raise ServiceRefusal("malformed", "no cap is stated: type the new number of at least one")
    return {**own, **({"per_analyst": each} if each else {})}


async def _refused(page: Page, fields: dict[str, str], refusal: ServiceRefusal) -> Response:
    if refusal.code in LEADS_AWAY:
        raise refusal
    problem = page.problem(refusal)
    return await _caps(page, status=CATALOGUE[refusal.code].status, fields=fields, problem=problem)


async def _caps(page: Page, *, status: int = 200, **shown: Any) -> Response:
    sources = await page.say("owner/sources")
    spent = await page.say("spent")
    left = {one["name"]: one["left"] for one in spent.get("analysts", [])}
    return page.show(
        "caps.html",
        "owner",
        status=status,
        sources=sources,
        spent=spent,
        whole=gauge_of(spent),
        analysts=[(one, left.get(one.name)) for one in gauges_of_analysts(spent)],
        proposals=await waiting_for(page),
        **{"fields": dict.fromkeys(_FIELDS, ""), "draft": None, "problem": None, **shown},
    )
