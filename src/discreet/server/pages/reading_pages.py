"""What is declared, what was spent, and the ledger."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import ServiceRefusal
from discreet.server.pages.budget_gauge import gauge_of, gauges_of_analysts
from discreet.server.pages.declared_tables import table_views
from discreet.server.pages.page import page_of

__all__ = ["budget", "data", "export", "ledger", "verify"]

_SHOWN = 100


async def data(request: Request) -> Response:
    """Show data sets and what is declared of them."""
    page = page_of(request)
    found = await page.say("tables")
    return page.show("data.html", "data", tables=table_views(found["tables"]), today=found["today"])


async def budget(request: Request) -> Response:
    """Show how much of the budget is used, and by whom."""
    page = page_of(request)
    found = await page.say("spent")
    return page.show(
        "budget.html",
        "budget",
        spent=found,
        whole=gauge_of(found),
        analysts=gauges_of_analysts(found),
        is_everyone="analysts" in found,
    )


async def ledger(request: Request) -> Response:
    """Show entries of the ledger, the latest first unless an earlier part is asked for."""
    return await _ledger(request, None)


async def verify(request: Request) -> Response:
    """Recompute every hash of the ledger, and show what was found."""
    page = page_of(request)
    await page.fields()
    return await _ledger(request, await page.say("verify"))


async def export(request: Request) -> Response:
    """Return all entries as lines, as they are hashed."""
    page = page_of(request)
    lines: list[str] = []
    while True:
        found = (await page.say("ledger", after=len(lines)))["entries"]
        lines += found
        if not found:
            break
    return Response(
        "".join(f"{line}\n" for line in lines),
        media_type="application/x-ndjson",
        headers={"content-disposition": 'attachment; filename="ledger.jsonl"'},
    )


async def _ledger(request: Request, verified: dict[str, object] | None) -> Response:
    page = page_of(request)
    head = (await page.say("ledger", after=2**53))["head"]
    typed = request.query_params.get("after", "")
    if typed and not (typed.isascii() and typed.isdigit() and len(typed) < 16):
        raise ServiceRefusal("malformed")
    after = min(int(typed) if typed else max(0, head["sequence"] - _SHOWN), head["sequence"])
    found = await page.say("ledger", after=after, described="true")
    return page.show(
        "ledger.html",
        "ledger",
        entries=list(reversed(found["described"][:_SHOWN])),
        head=head,
        verified=verified,
        earlier=max(0, after - _SHOWN) if after else None,
        later=after + _SHOWN if after + _SHOWN < head["sequence"] else None,
    )
