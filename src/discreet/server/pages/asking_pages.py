"""The editor with its preview, the answer, and what was asked before."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import ServiceRefusal
from discreet.server.pages.editors import (
    SQL,
    answered_again,
    editor_of,
    pay_and_show,
    preview_and_show,
    show_answer,
    show_editor,
)
from discreet.server.pages.page import page_of

__all__ = ["answer", "editor", "history", "label", "preview", "repeat"]


async def editor(request: Request) -> Response:
    """Show an empty editor."""
    page = page_of(request)
    page.check_scope("preview")
    return await show_editor(page, SQL, SQL.empty)


async def preview(request: Request) -> Response:
    """Show what a question would cost and how wrong its answer would be."""
    return await preview_and_show(page_of(request), SQL)


async def answer(request: Request) -> Response:
    """Pay, and show the answer."""
    return await pay_and_show(page_of(request), SQL)


async def history(request: Request) -> Response:
    """Show what the one who is logged in asked before."""
    page = page_of(request)
    page.check_scope("ask")
    asked = page.browser.sessions.history.of(page.session.key.name)
    return page.show("history.html", "history", asked=asked)


async def repeat(request: Request) -> Response:
    """Show an earlier answer again. Nothing is charged: one that would cost something is previewed."""
    page = page_of(request)
    fields = await page.fields("number")
    asked = page.asked(fields["number"])
    found = await answered_again(page, asked)
    if found is None:
        written = editor_of(asked.body)
        shown = await page.say("preview", asked.body)
        return await show_editor(page, written, written.fields_of(asked.body), found=shown)
    return await show_answer(page, asked.body, found)


async def label(request: Request) -> Response:
    """Return the label of an earlier answer."""
    page = page_of(request)
    fields = await page.fields("number")
    found = await answered_again(page, page.asked(fields["number"]))
    if found is None:
        raise ServiceRefusal("not_found")
    return Response(
        json.dumps(found["label"], indent=1, ensure_ascii=True) + "\n",
        media_type="application/json",
        headers={"content-disposition": 'attachment; filename="label.json"'},
    )
