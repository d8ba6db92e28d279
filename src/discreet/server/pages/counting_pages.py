"""Many counts at once: ranges, a distribution or marginals for one price, and any count of them for free."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.pages.count_forms import MOST_AXES, axes_of, chosen_condition
from discreet.server.pages.editors import (
    COUNTS,
    answered_again,
    editor_of,
    pay_and_show,
    preview_and_show,
    show_answer,
    show_editor,
)
from discreet.server.pages.page import page_of

__all__ = ["counts_answer", "counts_editor", "counts_preview", "read_count"]

_ENDS = tuple(f"{end}{place}" for place in range(MOST_AXES) for end in ("from", "to"))


async def counts_editor(request: Request) -> Response:
    """Show an empty form."""
    page = page_of(request)
    page.check_scope("preview")
    return await show_editor(page, COUNTS, COUNTS.empty)


async def counts_preview(request: Request) -> Response:
    """Show what the counts would cost and how wrong they would be."""
    return await preview_and_show(page_of(request), COUNTS)


async def counts_answer(request: Request) -> Response:
    """Pay for all of the counts, and draw them."""
    return await pay_and_show(page_of(request), COUNTS)


async def read_count(request: Request) -> Response:
    """Show one count of those that were paid for. Nothing is charged."""
    page = page_of(request)
    fields = await page.fields("number", *_ENDS)
    asked = page.asked(fields["number"])
    found = None if editor_of(asked.body) is not COUNTS else await answered_again(page, asked)
    if found is None:
        raise ServiceRefusal("not_found")
    chosen = {name: fields[name] for name in _ENDS}
    try:
        condition = chosen_condition(axes_of(asked.body["question"], found), fields)
        read = (await page.say("counts", {**asked.body, "counts": [condition]}))["counts"][0]
    except ServiceRefusal as refusal:
        status = CATALOGUE[refusal.code].status
        return await show_answer(
            page, asked.body, found, status=status, chosen=chosen, problem=page.problem(refusal)
        )
    return await show_answer(page, asked.body, found, chosen=chosen, read=read)
