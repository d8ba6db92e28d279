"""Jobs: questions that outlive the connection of the one who asked.

A job is a question that is being paid for and answered as `ask` does it, while nobody waits at a socket. It
says how far it is in one of four words, which change at the ends of slots and say nothing about rows. What it
answers is in the ledger's store, and is fetched by asking the same question, at no cost; so a job holds no
answer, and a server that is killed forgets the job, but neither its charge nor its answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.noise.entropy import System
from discreet.server.catalogue import CATALOGUE, ServiceRefusal, problem_of
from discreet.server.keys import AccessKey, KeyFile
from discreet.server.pool import Pool
from discreet.server.request_log import LoggedRequest, RequestLog
from discreet.server.service_limits import ServiceLimits

__all__ = ["Job", "Jobs"]

WAITING, WORKING, DONE, FAILED = "waiting", "working", "done", "failed"
_KEPT = 64
_FORGOTTEN = (
    "this server knows no such job of yours: it may have been started again since. Send the same question "
    "with the same terms again: what was charged is answered, at no further cost"
)


@dataclass(slots=True, kw_only=True)
class Job:
    """How far a question is.

    Attributes
    ----------
    identifier : str
        The same for the same question of the same name, while the server lives.
    name : str
        Who asked, and alone may know of it.
    state : {"waiting", "working", "done", "failed"}
        Working as soon as a worker has it.
    paid : str
        What it was charged, in words, once it is done.
    problem : dict
        Of the catalogue, if it failed.
    """

    identifier: str
    name: str
    state: str = WAITING
    paid: str = ""
    problem: dict[str, Any] | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in {DONE, FAILED}

    def to_object(self) -> dict[str, object]:
        """Return what its owner may know, for JSON."""
        told: dict[str, object] = {"job": self.identifier, "state": self.state}
        if self.state == DONE:
            told["paid"] = self.paid
        return told if self.problem is None else {**told, "problem": self.problem["error"]}


class Jobs:
    """The jobs of one server.

    Parameters
    ----------
    pool : Pool
        What answers.
    keys : KeyFile
        Who may ask.
    limits : ServiceLimits
        How many jobs of one name are under way at a time, and for how long.
    log : RequestLog
        Gets a line for each job when it ends.
    """

    def __init__(self, pool: Pool, keys: KeyFile, limits: ServiceLimits, log: RequestLog) -> None:
        self._pool = pool
        self._keys = keys
        self._limits = limits
        self._log = log
        self._random = System()
        self._secret = self._random.bits(256).to_bytes(32, "big")
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(max(1, limits.workers // 2))  # the others are for those who wait

    def start(self, key: AccessKey, message: Mapping[str, object]) -> Job:
        """Begin to answer a question, or return the job that does so or did so before.

        Raises
        ------
        ServiceRefusal
            If as many jobs of this name are under way as may be.
        """
        identifier = self._identifier(key.name, message)
        known = self._jobs.get(identifier)
        if known is not None and known.state != FAILED:
            return known
        own = [job for job in self._jobs.values() if job.name == key.name]
        if sum(not job.is_over for job in own) >= self._limits.each:
            raise ServiceRefusal("too_many_requests")
        for job in [job for job in own if job.is_over][: max(0, len(own) - _KEPT + 1)]:
            del self._jobs[job.identifier]
        found = self._jobs[identifier] = Job(identifier=identifier, name=key.name)
        task = asyncio.get_running_loop().create_task(self._work(found, key, message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return found

    def find(self, key: AccessKey, identifier: str) -> Job:
        """Return a job of the name of a key.

        Raises
        ------
        ServiceRefusal
            If there is none: whether another name has one is not told.
        """
        found = self._jobs.get(identifier)
        if found is None or found.name != key.name:
            raise ServiceRefusal("not_found", _FORGOTTEN)
        return found

    def _identifier(self, name: str, message: Mapping[str, object]) -> str:
        written = json.dumps([name, message], sort_keys=True).encode()
        return hmac.digest(self._secret, written, hashlib.sha256).hex()[:32]

    async def _work(self, job: Job, key: AccessKey, message: Mapping[str, object]) -> None:
        def is_allowed() -> bool:
            job.state = WORKING
            return self._keys.find_again(key) is not None

        try:
            async with self._room:
                reply = await self._pool.do(message, is_allowed=is_allowed, seconds=self._limits.job_seconds)
        except Exception as error:
            reply = {**problem_of(error), "slot": 0}
        if "error" in reply:
            job.problem, job.state = {"error": reply["error"]}, FAILED
        else:
            job.paid, job.state = str(reply["content"]["paid"]), DONE
        code = "" if job.problem is None else str(job.problem["error"]["code"])
        self._log.write(
            LoggedRequest(
                request=f"{self._random.bits(64):016x}",
                word="job",
                status=CATALOGUE[code].status if code else 200,
                code=code,
                key=key.prefix,
                name=key.name,
                cost=job.paid,
                slot=reply["slot"],
            )
        )
