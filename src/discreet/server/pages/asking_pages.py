"""The editor with its preview, the answer, and what was asked before."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.answer_charts import answer_columns_of, charts_of
from discreet.server.pages.declared_tables import table_views
from discreet.server.pages.error_steps import ErrorStep, error_steps_of, prices_around
from discreet.server.pages.forms import question_body
from discreet.server.pages.history import AskedBefore
from discreet.server.pages.page import Page, page_of
from discreet.server.pages.templates import rendered

__all__ = ["answer", "editor", "history", "label", "preview", "repeat"]

_FIELDS = ("question", "epsilon", "delta", "error", "confidence", "rows")
_EMPTY = {**dict.fromkeys(_FIELDS, ""), "epsilon": "0.1"}


async def editor(request: Request) -> Response:
    """Show an empty editor."""
    page = page_of(request)
    page.check_scope("preview")
    return await _editor(page, dict(_EMPTY))


async def preview(request: Request) -> Response:
    """Show what a question would cost and how wrong its answer would be; alone, if a script asks."""
    page = page_of(request)
    fields = await page.fields(*_FIELDS, "part")
    try:
        body = question_body(fields)
        found = await page.say("preview", body)
        shown: dict[str, Any] = {"found": found, "steps": await _steps(page, fields, body, found)}
    except ServiceRefusal as refusal:
        if refusal.code in ("stale_form", "unauthorized", "forbidden"):
            raise
        shown = {"problem": page.problem(refusal)}
    if fields["part"]:
        return HTMLResponse(rendered("preview.html", session=page.session, **_preview(shown)))
    return await _editor(page, fields, **shown)


async def answer(request: Request) -> Response:
    """Pay, and show the answer."""
    page = page_of(request)
    fields = await page.fields(*_FIELDS, "part")
    try:
        body = question_body(fields)
        found = await page.say("ask", body)
    except ServiceRefusal as refusal:
        if refusal.code in ("stale_form", "unauthorized", "forbidden"):
            raise
        status = CATALOGUE[refusal.code].status
        return await _editor(page, fields, status=status, problem=page.problem(refusal))
    return _answer(page, body, found)


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
    body = _chosen(page, fields["number"]).body
    found = await _again(page, body)
    if found is None:
        return await _editor(page, _fields_of(body), found=await page.say("preview", body), steps=[])
    return _answer(page, body, found)


async def label(request: Request) -> Response:
    """Return the label of an earlier answer."""
    page = page_of(request)
    fields = await page.fields("number")
    found = await _again(page, _chosen(page, fields["number"]).body)
    if found is None:
        raise ServiceRefusal("not_found")
    return Response(
        json.dumps(found["label"], indent=1, ensure_ascii=True) + "\n",
        media_type="application/json",
        headers={"content-disposition": 'attachment; filename="label.json"'},
    )


async def _again(page: Page, body: dict[str, Any]) -> dict[str, Any] | None:
    """Return an answer that was paid for; None if it would have to be paid again."""
    page.check_scope("ask")
    if not (await page.say("preview", body))["answered"]:
        return None
    return await page.say("ask", body)


async def _editor(page: Page, fields: dict[str, str], *, status: int = 200, **shown: Any) -> Response:
    tables: list[Any] = []
    if "tables" in page.session.key.scopes:
        tables = list(table_views((await page.say("tables"))["tables"]))
    return page.show("ask.html", "ask", status=status, fields=fields, tables=tables, **_preview(shown))


def _preview(shown: dict[str, Any]) -> dict[str, Any]:
    return {"found": None, "steps": [], "problem": None, **shown}


async def _steps(
    page: Page, fields: dict[str, str], body: dict[str, Any], found: dict[str, Any]
) -> list[ErrorStep]:
    """Return the errors at other prices; those that are refused are left out."""
    chosen, others = prices_around("" if "error" in body else fields["epsilon"].strip(), found)
    if not chosen:
        return []
    previews = {chosen: found}
    stated = {name: value for name, value in body.items() if name != "error"}
    for price in others:
        try:
            previews[price] = await page.say("preview", {**stated, "epsilon": price})
        except ServiceRefusal:
            continue
    return error_steps_of(chosen, previews)


def _answer(page: Page, body: dict[str, Any], found: dict[str, Any]) -> Response:
    asked = page.browser.sessions.history.add(page.session.key.name, body, found)
    keys, outputs = answer_columns_of(found)
    return page.show(
        "answer.html",
        "ask",
        found=found,
        asked=asked,
        fields=_fields_of(body),
        keys=keys,
        outputs=outputs,
        charts=charts_of(found),
        label=json.dumps(found["label"], indent=1, ensure_ascii=False),
    )


def _fields_of(body: dict[str, Any]) -> dict[str, str]:
    """Return the fields of the editor that send a body."""
    errors = ", ".join(f"{name}={one}" for name, one in body.get("error", {}).items())
    return {**{name: str(body.get(name, "")) for name in _FIELDS}, "error": errors}


def _chosen(page: Page, number: str) -> AskedBefore:
    found = page.browser.sessions.history.find(page.session.key.name, number)
    if found is None:
        raise ServiceRefusal("not_found")
    return found
