"""Two ways to write a question, SQL and many counts at once: preview, pay, see the answer, see it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starlette.responses import HTMLResponse, Response

from discreet.records import dataclass
from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.answer_charts import Chart, answer_columns_of, charts_of
from discreet.server.pages.count_charts import count_charts_of, curve_chart_of, curve_conditions
from discreet.server.pages.count_forms import MOST_AXES, CountAxis, axes_of, count_body, count_fields
from discreet.server.pages.declared_tables import table_views
from discreet.server.pages.error_steps import ErrorStep, error_steps_of, prices_around
from discreet.server.pages.forms import question_body, question_fields
from discreet.server.pages.history import AskedBefore
from discreet.server.pages.page import Page
from discreet.server.pages.templates import rendered

__all__ = [
    "COUNTS",
    "SQL",
    "Editor",
    "answered_again",
    "editor_of",
    "pay_and_show",
    "preview_and_show",
    "show_answer",
    "show_editor",
]

_LEADS_AWAY = ("stale_form", "unauthorized", "forbidden")


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """A form for questions.

    Attributes
    ----------
    path : str
        Of its page, below ``/pages/``; also the name of its template.
    fields : tuple of str
        What it sends.
    empty : dict
        What its fields hold at first.
    factors : tuple of float
        At which multiples of the price the error is shown, too.
    body_of, fields_of : callable
        From its fields to what ``/v1`` gets, and back.
    """

    path: str
    fields: tuple[str, ...]
    empty: dict[str, str]
    factors: tuple[float, ...]
    body_of: Callable[[dict[str, str]], dict[str, Any]]
    fields_of: Callable[[dict[str, Any]], dict[str, str]]


SQL = Editor(
    path="ask",
    fields=("question", "epsilon", "delta", "error", "confidence", "rows", "buy"),
    empty={"epsilon": "0.1"},
    factors=(0.25, 0.5, 2.0, 4.0),
    body_of=question_body,
    fields_of=question_fields,
)
COUNTS = Editor(
    path="counts",
    fields=("kind", "table", "columns", "width", "by", "epsilon", "delta", "confidence"),
    empty={"kind": "ranges", "epsilon": "0.1"},
    factors=(0.5, 2.0),  # a plan for many counts takes a while
    body_of=count_body,
    fields_of=count_fields,
)


def editor_of(body: dict[str, Any]) -> Editor:
    """Return the editor in which a question was written."""
    return SQL if isinstance(body["question"], str) else COUNTS


async def show_editor(
    page: Page, editor: Editor, fields: dict[str, str], *, status: int = 200, **shown: Any
) -> Response:
    """Show an editor with what was typed, and its preview if there is one."""
    tables: list[Any] = []
    if "tables" in page.session.key.scopes:
        tables = list(table_views((await page.say("tables"))["tables"]))
    filled = {**dict.fromkeys(editor.fields, ""), **fields}
    return page.show(
        f"{editor.path}.html", "ask", status=status, fields=filled, tables=tables, **_preview(shown)
    )


async def preview_and_show(page: Page, editor: Editor) -> Response:
    """Show what a question would cost and how wrong its answer would be; alone, if a script asks."""
    fields = await page.fields(*editor.fields, "part")
    try:
        body = editor.body_of(fields)
        found = await page.say("preview", body)
        shown: dict[str, Any] = {"found": found, "steps": await _steps(page, editor, fields, body, found)}
    except ServiceRefusal as refusal:
        if refusal.code in _LEADS_AWAY:
            raise
        shown = {"problem": page.problem(refusal)}
    if fields["part"]:
        return HTMLResponse(rendered("preview.html", session=page.session, **_preview(shown)))
    return await show_editor(page, editor, fields, **shown)


async def pay_and_show(page: Page, editor: Editor) -> Response:
    """Pay, and show the answer; a refusal stands where the preview does."""
    fields = await page.fields(*editor.fields, "part")
    try:
        body = editor.body_of(fields)
        found = await page.say("ask", body)
    except ServiceRefusal as refusal:
        if refusal.code in _LEADS_AWAY:
            raise
        status = CATALOGUE[refusal.code].status
        return await show_editor(page, editor, fields, status=status, problem=page.problem(refusal))
    return await show_answer(page, body, found)


async def answered_again(page: Page, asked: AskedBefore) -> dict[str, Any] | None:
    """Return an answer that was paid for; None if it would have to be paid again."""
    page.check_scope("ask")
    if not (await page.say("preview", asked.body))["answered"]:
        return None
    return await page.say("ask", asked.body)


async def show_answer(
    page: Page, body: dict[str, Any], found: dict[str, Any], *, status: int = 200, **shown: Any
) -> Response:
    """Show an answer as charts and as a table, and remember its question."""
    editor = editor_of(body)
    asked = page.browser.sessions.history.add(page.session.key.name, body, found)
    keys, outputs = answer_columns_of(found)
    axes = axes_of(body["question"], found) if editor is COUNTS else []
    return page.show(
        "answer.html",
        "ask",
        status=status,
        found=found,
        asked=asked,
        editor=editor,
        fields=editor.fields_of(body),
        keys=keys,
        outputs=outputs,
        axes=axes[:MOST_AXES],
        charts=await _counted(page, body, found, axes) if axes else charts_of(found),
        label=json.dumps(found["label"], indent=1, ensure_ascii=False),
        **{"read": None, "chosen": {}, "problem": None, **shown},
    )


async def _counted(
    page: Page, body: dict[str, Any], found: dict[str, Any], axes: list[CountAxis]
) -> list[Chart]:
    """Return charts of many counts; a distribution function is counted from the lowest, at no cost."""
    if body["question"]["kind"] != "cdf" or len(axes) > 1:
        return count_charts_of(found, axes)
    read = await page.say("counts", {**body, "counts": curve_conditions(axes)})
    return curve_chart_of(axes, read["counts"])


def _preview(shown: dict[str, Any]) -> dict[str, Any]:
    return {"found": None, "steps": [], "problem": None, **shown}


async def _steps(
    page: Page, editor: Editor, fields: dict[str, str], body: dict[str, Any], found: dict[str, Any]
) -> list[ErrorStep]:
    """Return the errors at other prices; those that are refused are left out."""
    typed = "" if "error" in body else fields["epsilon"].strip()
    chosen, others = prices_around(typed, found, editor.factors)
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
