"""The words of a curator over HTTP. Who asks is who holds the key; nothing else says so.

====================  ======  ============================================================
path                  method  what it is
====================  ======  ============================================================
``/v1/tables``        GET     what is declared
``/v1/preview``       POST    what a question would cost, and how wrong its answer would be
``/v1/explain``       POST    how it would be answered
``/v1/ask``           POST    pay, and answer
``/v1/jobs``          POST    begin to pay and answer, without waiting
``/v1/jobs/ID``       GET     how far that is
``/v1/counts``        POST    counts within ranges or marginals that were answered
``/v1/spent``         GET     what was spent, and what is left
``/v1/ledger``        GET     the entries, for owners and auditors
``/v1/verify``        GET     every hash of the ledger, recomputed
``/v1/keys``          GET     all keys, without their secrets, for owners
``/v1/keys``          POST    create a key, which is shown once
``/v1/keys/revoke``   POST    end a key
``/v1/suggest``       POST    bounds or limits to declare, paid for; ``/v1/suggest/preview``: their price
``/v1/owner/…``       both    tables, caps and checks, for owners: see `owner_paths`
``/v1/label``         GET     the JSON Schema of labels
``/metrics``          GET     counts of requests, for owners and auditors
``/health``           GET     the process lives
``/ready``            GET     some worker has opened the tables and the ledger
``/openapi.json``     GET     all of this for programs
``/pages/…``          both    the same words for a browser: see `pages`
====================  ======  ============================================================
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import Response

from discreet.errors import DiscreetError
from discreet.server import answering
from discreet.server.answering import Content, Service, answered, done, service_of
from discreet.server.bodies import AskBody, CountsBody, NewKeyBody, QuestionBody, RevokedKeyBody
from discreet.server.catalogue import ServiceRefusal, problem_of
from discreet.server.guard import PASSED, App, Guard
from discreet.server.jobs import Jobs
from discreet.server.keys import KeyFile
from discreet.server.owner_paths import OWNER_PATHS
from discreet.server.owning.owner_options import OwnerOptions
from discreet.server.owning.proposals import Proposals
from discreet.server.pages.browser import BrowserEntrance
from discreet.server.pages.entering_pages import enter
from discreet.server.pages.routes import pages_application
from discreet.server.pages.sessions import Sessions
from discreet.server.pool import Pool
from discreet.server.replies import PROBLEMS, REPLIES
from discreet.server.request_log import RequestLog
from discreet.server.service_limits import ServiceLimits
from discreet.version import __version__

__all__ = ["application"]


_PUBLIC = APIRouter(responses=PROBLEMS)
_WORDS = APIRouter(dependencies=[Depends(HTTPBearer(auto_error=False))], responses=PROBLEMS)
_CODES = {400: "malformed", 404: "not_found", 405: "not_allowed", 422: "malformed"}


def application(
    pool: Pool,
    keys: KeyFile,
    limits: ServiceLimits,
    log: RequestLog,
    *,
    is_encrypted: bool = False,
    options: OwnerOptions | None = None,
) -> App:
    """Return the application, guarded.

    Parameters
    ----------
    pool : Pool
        What answers.
    keys : KeyFile
        Who may ask.
    limits : ServiceLimits
        How much.
    log : RequestLog
        Gets a line for each request.
    is_encrypted : bool
        Whether the server speaks TLS.
    options : OwnerOptions, optional
        What owners may do besides; by default nothing.
    """
    app = FastAPI(
        title="discreet", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    jobs = Jobs(pool, keys, limits, log)
    app.state.service = Service(
        pool=pool,
        keys=keys,
        limits=limits,
        log=log,
        jobs=jobs,
        options=OwnerOptions() if options is None else options,
        proposals=Proposals(keys),
    )
    app.include_router(_PUBLIC)
    app.include_router(_WORDS)
    app.include_router(OWNER_PATHS)
    app.add_exception_handler(ServiceRefusal, _problem)
    app.add_exception_handler(RequestValidationError, _problem)
    app.add_exception_handler(HTTPException, _problem)
    app.add_exception_handler(Exception, _problem)
    sessions = Sessions(keys)
    browser = BrowserEntrance(sessions, is_encrypted=is_encrypted)
    app.add_route("/", enter, include_in_schema=False)
    app.mount("/pages", pages_application(app, browser))
    return Guard(app, keys=keys, limits=limits, log=log, is_encrypted=is_encrypted, pages=browser)


async def _problem(request: Request, error: Exception) -> Response:
    """Answer with a problem of the catalogue; what was wrong with a body is not repeated."""
    if isinstance(error, RequestValidationError):
        error = ServiceRefusal("malformed")
    elif isinstance(error, HTTPException):
        error = ServiceRefusal(_CODES.get(error.status_code, "internal"))
    return answered(request, problem_of(error))


@_PUBLIC.get("/health", responses={200: REPLIES["status"]})
async def health() -> Response:
    """Say that the process lives."""
    return JSONResponse({"status": "alive"})


@_PUBLIC.get("/ready", responses={200: REPLIES["status"]})
async def ready(request: Request) -> Response:
    """Say whether questions can be answered."""
    if not service_of(request).pool.is_ready:
        raise ServiceRefusal("busy")
    return JSONResponse({"status": "ready"})


@_WORDS.get("/metrics", responses={200: REPLIES["metrics"]})
async def metrics(request: Request) -> Response:
    """Count requests by word and status, in the form of Prometheus."""
    answering.key_for(request, "metrics")
    service = service_of(request)
    found = service.log.metrics(workers=service.pool.workers, restarts=service.pool.restarts)
    return PlainTextResponse(found)


@_WORDS.get("/v1/label", responses={200: REPLIES["label"]})
async def label(request: Request) -> Response:
    """Return the JSON Schema of what an answer promises."""
    return await done(request, {"word": "label"})


@_WORDS.get("/v1/tables", responses={200: REPLIES["tables"]})
async def tables(request: Request) -> Response:
    """Return what is declared about each table."""
    answering.key_for(request, "tables")
    return await done(request, {"word": "tables"})


@_WORDS.get("/v1/spent", responses={200: REPLIES["spent"]})
async def spent(request: Request) -> Response:
    """Return what was spent by all, and what is left for the owner of the key."""
    key = answering.key_for(request, "spent")
    everyone = "ledger" in key.scopes
    knows_keys = everyone and "keys" in key.scopes
    names = sorted({one.name for one in service_of(request).keys.all()}) if knows_keys else []
    return await done(request, {"word": "spent", "analyst": key.name, "everyone": everyone, "names": names})


@_WORDS.get("/v1/ledger", responses={200: REPLIES["ledger"]})
async def ledger(
    request: Request, after: Annotated[int, Query(ge=0, le=2**53)] = 0, described: bool = False
) -> Response:
    """Return up to 1,000 entries after one, as they are hashed, and the head; described if wanted."""
    answering.key_for(request, "ledger")
    return await done(request, {"word": "ledger", "after": after, "described": described})


@_WORDS.get("/v1/verify", responses={200: REPLIES["verify"]})
async def verify(request: Request) -> Response:
    """Recompute every hash of the ledger, of entries and of stored answers."""
    answering.key_for(request, "ledger")
    return await done(request, {"word": "verify"})


@_WORDS.get("/v1/keys", responses={200: REPLIES["keys"]})
async def keys(request: Request) -> Response:
    """Return all keys, without their secrets and hashes."""
    answering.key_for(request, "keys")
    return JSONResponse({"keys": [one.to_object() for one in service_of(request).keys.all()]})


@_WORDS.post("/v1/keys", responses={200: REPLIES["create_key"]})
async def create_key(request: Request, body: NewKeyBody) -> Response:
    """Create a key, which is shown once. It may do and last no more than the one that creates it."""
    key = answering.key_for(request, "keys")
    try:
        made, text = service_of(request).keys.create_under(key, **body.model_dump())
    except DiscreetError as error:
        return answered(request, problem_of(error))
    return JSONResponse({"key": text, **made.to_object()})


@_WORDS.post("/v1/keys/revoke", responses={200: REPLIES["revoke_key"]})
async def revoke_key(request: Request, body: RevokedKeyBody) -> Response:
    """End a key, or all keys of a name, at once and for good."""
    answering.key_for(request, "keys")
    try:
        ended = service_of(request).keys.revoke(body.which, reason=body.reason)
    except DiscreetError as error:
        return answered(request, problem_of(error))
    return JSONResponse({"revoked": [one.to_object() for one in ended]})


@_WORDS.post("/v1/preview", responses={200: REPLIES["preview"]})
async def preview(request: Request, body: QuestionBody) -> Response:
    """Return what a question would cost and how wrong its answer would be. Spends nothing."""
    return await done(request, _message(request, "preview", body))


@_WORDS.post("/v1/explain", responses={200: REPLIES["explain"]})
async def explain(request: Request, body: QuestionBody) -> Response:
    """Describe how a question would be answered. Spends nothing."""
    return await done(request, _message(request, "explain", body))


@_WORDS.post("/v1/ask", responses={200: REPLIES["ask"]})
async def ask(request: Request, body: AskBody) -> Response:
    """Pay, and answer. The same question with the same offer is answered again at no cost."""
    return await done(request, {**_message(request, "ask", body), "form": body.form})


@_WORDS.post("/v1/jobs", status_code=202, responses={202: REPLIES["job"]})
async def start_job(request: Request, body: QuestionBody) -> Response:
    """Begin to pay and answer. Ask the same on `/v1/ask` when it is done: its answer is there, at no cost."""
    message = {**_message(request, "ask", body), "form": "rows"}
    job = service_of(request).jobs.start(request.scope[PASSED]["key"], message)
    return JSONResponse(job.to_object(), status_code=202)


@_WORDS.get("/v1/jobs/{job}", responses={200: REPLIES["job"]})
async def job(request: Request, job: Annotated[str, Path(max_length=100)]) -> Response:
    """Say how far a job is: waiting, working, done or failed. This depends on no row."""
    key = answering.key_for(request, "ask")
    return JSONResponse(service_of(request).jobs.find(key, job).to_object())


@_WORDS.post("/v1/counts", responses={200: REPLIES["counts"]})
async def counts(request: Request, body: CountsBody) -> Response:
    """Read counts from ranges or marginals that were asked before on these terms. Costs nothing."""
    return await done(request, {**_message(request, "ask", body), "word": "counts", "counts": body.counts})


def _message(request: Request, scope: str, body: QuestionBody) -> Content:
    key = answering.key_for(request, scope)
    question = body.question
    if isinstance(question, str) and len(question) > service_of(request).limits.characters:
        raise ServiceRefusal("too_large")
    terms = body.model_dump(exclude={"question", "form", "counts"})
    asked = question if isinstance(question, str) else question.model_dump()
    return {"word": scope, "question": asked, "analyst": key.name, "terms": terms}
