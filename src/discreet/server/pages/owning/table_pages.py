"""To declare a table: choose its rows, see names and types of its columns, say who is protected, look at it.

What is declared is what was looked at: the text of the section and the declaration that it is added to are
compared with those of the page before.
"""

from __future__ import annotations

import hashlib
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.declared_tables import table_views
from discreet.server.pages.owning.changes import LEADS_AWAY, show_waiting, waiting_for
from discreet.server.pages.owning.table_forms import (
    KINDS,
    MOST_COLUMNS,
    SOURCE_FIELDS,
    TABLE_FIELDS,
    source_of,
    table_of,
)
from discreet.server.pages.page import Page, page_of

__all__ = ["declare_table", "describe_source", "draft_table", "tables"]

_MOST = len(TABLE_FIELDS) + 1


async def tables(request: Request) -> Response:
    """Show from where a table may be declared."""
    return await _sources(page_of(request), {})


async def describe_source(request: Request) -> Response:
    """Show names and types of the columns of a source, and ask what is to be declared about them."""
    page = page_of(request)
    fields = await page.fields(*SOURCE_FIELDS)
    try:
        return await _declare(page, fields)
    except ServiceRefusal as refusal:
        if refusal.code in LEADS_AWAY:
            raise
        status = CATALOGUE[refusal.code].status
        return await _sources(page, fields, status=status, problem=page.problem(refusal))


async def draft_table(request: Request) -> Response:
    """Open the table as it is stated, and show the section that declares it. Nothing is written."""
    page = page_of(request)
    fields = await page.fields(*TABLE_FIELDS, most=_MOST)
    try:
        found = await page.say("owner/draft", {"table": table_of(fields)})
    except ServiceRefusal as refusal:
        return await _refused(page, fields, refusal)
    return await _declare(page, fields, draft=_mark(found))


async def declare_table(request: Request) -> Response:
    """Write the section and record it in the ledger, or propose it to a second owner."""
    page = page_of(request)
    fields = await page.fields(*TABLE_FIELDS, most=_MOST)
    try:
        table = table_of(fields)
        found = _mark(await page.say("owner/draft", {"table": table}))
        if (found["mark"], found["digest"]) != (fields["drafted"], fields["digest"]):
            return await _declare(page, fields, draft=found, is_other=True)
        body = {"table": table, "reason": fields["reason"].strip(), "expected": fields["digest"]}
        done = await page.say("owner/amend", body)
    except ServiceRefusal as refusal:
        return await _refused(page, fields, refusal)
    return await show_waiting(page, done=done)


def _mark(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "mark": hashlib.sha256(found["text"].encode()).hexdigest()}


async def _refused(page: Page, fields: dict[str, str], refusal: ServiceRefusal) -> Response:
    if refusal.code in LEADS_AWAY:
        raise refusal
    status = CATALOGUE[refusal.code].status
    return await _declare(page, fields, status=status, problem=page.problem(refusal))


async def _declare(page: Page, fields: dict[str, str], *, status: int = 200, **shown: Any) -> Response:
    """Show what is stated of each column; those who typed something find it again."""
    found = await page.say("owner/schema", source_of(fields))
    columns = found["columns"]
    typed = {fields.get(f"column{place}"): place for place in range(MOST_COLUMNS)}
    stated = [
        {
            **one,
            "kind": fields.get(f"kind{typed[one['name']]}", "") if one["name"] in typed else "",
            "stated": fields.get(f"stated{typed[one['name']]}", "") if one["name"] in typed else "",
        }
        for one in columns[:MOST_COLUMNS]
    ]
    return page.show(
        "declare.html",
        "owner",
        status=status,
        fields={**dict.fromkeys(TABLE_FIELDS, ""), **fields},
        source_fields=SOURCE_FIELDS,
        columns=stated,
        left_out=len(columns) - len(stated),
        kinds=KINDS,
        sources=await page.say("owner/sources"),
        **{"draft": None, "is_other": False, "problem": None, **shown},
    )


async def _sources(page: Page, fields: dict[str, str], *, status: int = 200, **shown: Any) -> Response:
    declared = table_views((await page.say("tables"))["tables"])
    return page.show(
        "tables.html",
        "owner",
        status=status,
        sources=await page.say("owner/sources"),
        declared=declared,
        fields={**dict.fromkeys(SOURCE_FIELDS, ""), **fields},
        proposals=await waiting_for(page),
        **{"problem": None, **shown},
    )
