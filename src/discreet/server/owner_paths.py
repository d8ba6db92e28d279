"""The words of owners over HTTP, each behind a scope that only keys of owners have.

==============================  ======  ==========  =====================================================
path                            method  scope       what it is
==============================  ======  ==========  =====================================================
``/v1/owner/sources``           GET     amend       from where a table may be declared
``/v1/owner/schema``            POST    amend       names and types of the columns of a source
``/v1/owner/draft``             POST    amend       what a change of the declaration would write
``/v1/owner/amend``             POST    amend       make it, or propose it to a second owner
``/v1/owner/proposals``         GET     amend       what waits for a second owner
``/v1/owner/agree``             POST    amend       agree, as the second
``/v1/owner/withdraw``          POST    amend       forget a proposal
``/v1/owner/check``             POST    check       exact counts of rows against declarations
``/v1/suggest/preview``         POST    preview     what bounds or limits to declare would cost
``/v1/suggest``                 POST    ask         pay for them
==============================  ======  ==========  =====================================================
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.responses import Response

from discreet.errors import DiscreetError
from discreet.server import answering
from discreet.server.answering import Content, answered, done, reply_of, service_of
from discreet.server.bodies import AgreeBody, AmendBody, ChangeBody, CheckBody, SourceBody, SuggestBody
from discreet.server.catalogue import problem_of
from discreet.server.keys import AccessKey
from discreet.server.replies import PROBLEMS, REPLIES

__all__ = ["OWNER_PATHS"]

OWNER_PATHS = APIRouter(dependencies=[Depends(HTTPBearer(auto_error=False))], responses=PROBLEMS)
"""The paths of owners."""


@OWNER_PATHS.get("/v1/owner/sources", responses={200: REPLIES["sources"]})
async def sources(request: Request) -> Response:
    """Say from where a table may be declared, and whether changes are made here."""
    answering.key_for(request, "amend")
    return await done(request, _message(request, "sources"))


@OWNER_PATHS.post("/v1/owner/schema", responses={200: REPLIES["schema"]})
async def schema(request: Request, body: SourceBody) -> Response:
    """Return names and types of the columns of a source: no value, and no number of rows."""
    answering.key_for(request, "amend")
    return await done(request, _message(request, "schema", table=body.model_dump()))


@OWNER_PATHS.post("/v1/owner/draft", responses={200: REPLIES["draft"]})
async def draft(request: Request, body: ChangeBody) -> Response:
    """Check a change of the declaration in full, and return what it would write. Nothing is written."""
    answering.key_for(request, "amend")
    return await done(request, _message(request, "draft", change=_change(body)))


@OWNER_PATHS.post("/v1/owner/amend", responses={200: REPLIES["amend"]})
async def amend(request: Request, body: AmendBody) -> Response:
    """Change the declaration and record it in the ledger; where two owners must agree, propose it."""
    key = answering.key_for(request, "amend")
    stated = {"change": _change(body), "reason": body.reason, "expected": body.expected}
    message = _message(request, "amend", **stated, agreed=[key.name])
    content = await _amended(request, message)
    if content.get("state") == "waiting":
        waiting = service_of(request).proposals.add(key, message, str(content["text"]))
        content = {**content, "proposal": waiting.identifier}
    return answered(request, content)


@OWNER_PATHS.get("/v1/owner/proposals", responses={200: REPLIES["proposals"]})
async def proposals(request: Request) -> Response:
    """Return the changes that wait for a second owner."""
    answering.key_for(request, "amend")
    return JSONResponse({"proposals": [one.to_object() for one in service_of(request).proposals.all()]})


@OWNER_PATHS.post("/v1/owner/agree", responses={200: REPLIES["amend"]})
async def agree(request: Request, body: AgreeBody) -> Response:
    """Agree to a change that another owner proposed, of the declaration that they looked at: it is made."""
    key = answering.key_for(request, "amend")
    waiting = service_of(request).proposals
    try:
        found = waiting.agreed(key, body.proposal)
    except DiscreetError as error:
        return answered(request, _problem(error))
    content = await _amended(request, {**found.message, "agreed": [found.key.name, key.name]}, found.key)
    if content.get("state") == "done":
        waiting.drop(found.identifier)
    return answered(request, content)


@OWNER_PATHS.post("/v1/owner/withdraw", responses={200: REPLIES["proposals"]})
async def withdraw(request: Request, body: AgreeBody) -> Response:
    """Forget a proposal, of any owner. Nothing was written for it."""
    answering.key_for(request, "amend")
    service_of(request).proposals.drop(body.proposal)
    return await proposals(request)


@OWNER_PATHS.post("/v1/owner/check", responses={200: REPLIES["check"]})
async def check(request: Request, body: CheckBody) -> Response:
    """Compare the rows of a table with its declaration. Exact counts, for the owner alone."""
    answering.key_for(request, "check")
    return await done(request, {"word": "check", "table": body.table})


@OWNER_PATHS.post("/v1/suggest/preview", responses={200: REPLIES["suggest_preview"]})
async def suggest_preview(request: Request, body: SuggestBody) -> Response:
    """Return what it would cost to have bounds or limits suggested. Spends nothing."""
    return await done(request, _suggestion(request, "preview", body))


@OWNER_PATHS.post("/v1/suggest", responses={200: REPLIES["suggest"]})
async def suggest(request: Request, body: SuggestBody) -> Response:
    """Pay for bounds of a column, or for limits of a table, and return what to declare."""
    return await done(request, _suggestion(request, "ask", body))


async def _amended(request: Request, message: Content, *others: AccessKey) -> Content:
    """Have a worker make a change; after one of tables, workers start anew and open what is declared now."""
    content = await reply_of(request, message, *others)
    if content.get("state") == "done" and message["change"]["table"] is not None:
        await service_of(request).pool.renew()
    return content


def _message(request: Request, word: str, **more: Any) -> Content:
    return {"word": word, "options": asdict(service_of(request).options), **more}


def _change(body: ChangeBody) -> Content:
    """Return what is changed; of caps, what is named."""
    caps = None if body.budget is None else body.budget.model_dump(exclude_none=True)
    return {"table": None if body.table is None else body.table.model_dump(), "budget": caps}


def _suggestion(request: Request, scope: str, body: SuggestBody) -> Content:
    key = answering.key_for(request, scope)
    terms = body.model_dump(exclude={"table", "column"}, exclude_none=True)
    named = {"table": body.table, "column": body.column, "analyst": key.name}
    return {"word": "suggest" if scope == "ask" else "suggest_preview", "terms": terms, **named}


def _problem(error: Exception) -> Content:
    found: Content = problem_of(error)
    return found
