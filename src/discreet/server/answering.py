"""What all paths of the server share: whose request it is, what answers it, and how that is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from discreet.server.catalogue import CATALOGUE, ServiceRefusal
from discreet.server.guard import PASSED
from discreet.server.jobs import Jobs
from discreet.server.keys import AccessKey, KeyFile
from discreet.server.owning.owner_options import OwnerOptions
from discreet.server.owning.proposals import Proposals
from discreet.server.pool import Pool
from discreet.server.request_log import RequestLog
from discreet.server.service_limits import ServiceLimits

__all__ = ["Content", "Service", "answered", "done", "key_for", "reply_of", "service_of"]

Content: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What the paths work with."""

    pool: Pool
    keys: KeyFile
    limits: ServiceLimits
    log: RequestLog
    jobs: Jobs
    options: OwnerOptions
    proposals: Proposals


def service_of(request: Request) -> Service:
    """Return what answers a request."""
    found: Service = request.app.state.service
    return found


def key_for(request: Request, scope: str) -> AccessKey:
    """Return the key of a request, if it may do this.

    Raises
    ------
    ServiceRefusal
        If it may not.
    """
    key: AccessKey = request.scope[PASSED]["key"]
    if scope not in key.scopes:
        raise ServiceRefusal("forbidden")
    return key


async def done(request: Request, message: Content) -> Response:
    """Have a worker do a word for the key of a request, and send what it says."""
    return answered(request, await reply_of(request, message))


async def reply_of(request: Request, message: Content, *others: AccessKey) -> Content:
    """Return what a worker says to a word: content, or a problem.

    The key of the request, and those of others in whose name it is done too, are looked up again when a
    worker is free for it.
    """
    service, passed = service_of(request), request.scope[PASSED]
    keys: list[AccessKey] = [passed["key"], *others]

    def is_allowed() -> bool:
        return all(service.keys.find_again(key) is not None for key in keys)

    reply = await service.pool.do(message, is_allowed=is_allowed)
    passed["slot"] = reply.pop("slot")
    content: Content = reply.get("content", reply)
    passed["cost"] = str(content.get("paid", ""))
    return content


def answered(request: Request, content: Content) -> Response:
    """Return what is sent for content, or for a problem, whose code the log gets."""
    if "error" not in content:
        return JSONResponse(content)
    code = content["error"]["code"]
    request.scope[PASSED]["code"] = code
    return JSONResponse(content, status_code=CATALOGUE[code].status)
