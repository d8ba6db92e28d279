"""Keys: all of them without their secrets; new ones, shown once; and the end of one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.keys import ROLES
from discreet.server.pages.page import Page, page_of

__all__ = ["create", "owner", "revoke"]


async def owner(request: Request) -> Response:
    """Show all keys."""
    return await _owner(page_of(request))


async def create(request: Request) -> Response:
    """Create a key, and show it once."""
    page = page_of(request)
    fields = await page.fields("name", "role", "days")
    days = fields["days"].strip()
    try:
        if not (days.isascii() and days.isdigit() and len(days) < 6):
            raise ServiceRefusal("malformed", "days are a whole number")
        body = {"name": fields["name"].strip(), "role": fields["role"], "days": int(days)}
        made = await page.say("keys", body)
    except ServiceRefusal as refusal:
        return await _refused(page, refusal)
    return await _owner(page, made=made)


async def revoke(request: Request) -> Response:
    """End a key at once. One who ends their own is led out by the next request."""
    page = page_of(request)
    fields = await page.fields("which", "reason")
    try:
        ended = await page.say("keys/revoke", {"which": fields["which"], "reason": fields["reason"].strip()})
    except ServiceRefusal as refusal:
        return await _refused(page, refusal)
    return await _owner(page_of(request), ended=ended["revoked"])


async def _refused(page: Page, refusal: ServiceRefusal) -> Response:
    if refusal.code == "forbidden":
        raise refusal
    return await _owner(page, status=CATALOGUE[refusal.code].status, problem=page.problem(refusal))


async def _owner(page: Page, *, status: int = 200, **shown: Any) -> Response:
    found = await page.say("keys")
    now = f"{datetime.now(UTC).isoformat(timespec='seconds')[:19]}Z"
    left = (datetime.fromisoformat(page.session.key.expires) - datetime.now(UTC)).days
    return page.show(
        "owner.html",
        "owner",
        status=status,
        keys=list(reversed(found["keys"])),
        roles=[one for one, scopes in ROLES.items() if {*scopes} <= {*page.session.key.scopes}],
        days=min(90, left),
        now=now,
        **{"made": None, "ended": None, "problem": None, **shown},
    )
