"""The workers of a server: each answers one question at a time, and one that takes too long is killed.

How long a worker reads rows depends on them. So a worker that may have read rows is given to nobody else
before the slot of its question ends: who waits for it learns the number of the slot, as the one who asked.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from discreet.errors import LedgerUnavailable
from discreet.server.catalogue import ServiceRefusal, problem_body
from discreet.server.service_limits import ServiceLimits
from discreet.server.slots import until_slot
from discreet.server.worker import LENGTH, error_met, packed

__all__ = ["Pool"]

_OPENING_SECONDS = 600.0
_STOPPING_SECONDS = 5.0
_AGAIN_SECONDS = 5.0
_READING = frozenset({"ask", "check", "schema", "draft", "amend", "suggest"})
"""The words for which rows are read, or tables opened: how long that takes depends on them."""
_PROBE = packed({"word": "spent", "analyst": "", "everyone": False})
_NO_WORKER = "a worker ended while it opened the tables; give it more memory"


class Pool:
    """Processes that hold the curator of one declaration.

    Parameters
    ----------
    file : Path
        The declaration.
    limits : ServiceLimits
        How many workers, and what each may take.
    """

    def __init__(self, file: Path, limits: ServiceLimits) -> None:
        self._settings = json.dumps({"file": str(file.absolute()), "limits": asdict(limits)})
        self._limits = limits
        self._idle: asyncio.Queue[Process] = asyncio.Queue()
        self._alive: set[Process] = set()
        self._open: set[Process] = set()
        self._old: set[Process] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting = 0
        self._stopping = False
        self._ledger_is_away = False
        self.restarts = 0

    @property
    def is_ready(self) -> bool:
        """Whether some worker has opened the tables and the ledger, and the ledger can be used."""
        opened = any(process.returncode is None for process in self._open)
        return opened and not self._ledger_is_away and not self._stopping

    @property
    def workers(self) -> int:
        """How many workers live."""
        return len(self._alive)

    async def start(self) -> None:
        """Start all workers; the first one alone, as it may create the ledger.

        Raises
        ------
        DiscreetError, OSError
            If the declaration, its tables or its ledger cannot be opened: what a curator would raise.
        """
        await self._start_one()
        for _ in range(self._limits.workers - 1):
            self._begin(self._replace())

    async def do(
        self,
        message: Mapping[str, object],
        *,
        is_allowed: Callable[[], bool] = lambda: True,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Have a worker answer a message; return its content, or a problem of the catalogue, and the slot.

        The exchange goes on if the one who asked is gone: what was charged is answered and stored.

        Parameters
        ----------
        message : mapping
            A word, and what belongs to it.
        is_allowed : callable
            Asked again when a worker is free: one who may no longer ask is not charged.
        seconds : float, optional
            How long to wait for a worker and how long it may take; by default what the limits say.

        Raises
        ------
        ServiceRefusal
            If too many wait already, or if it is not allowed any more.
        """
        if self._stopping or self._waiting >= self._limits.waiting:
            raise ServiceRefusal("busy")
        reads_rows = message["word"] in _READING
        longest = self._limits.seconds if seconds is None else seconds
        return await asyncio.shield(
            self._begin(self._exchange(packed(message), is_allowed, reads_rows=reads_rows, seconds=longest))
        )

    async def renew(self) -> None:
        """Replace all workers: those that do nothing now, others when they are done.

        What is declared has changed, and each opens it as it is now. Who asks meanwhile waits.
        """
        self._old = set(self._alive)
        while not self._idle.empty():
            self._begin(self._replace(self._idle.get_nowait()))

    async def stop(self) -> None:
        """Let workers finish what they do, for a few seconds, and end them."""
        self._stopping = True
        working = [task for task in self._tasks if not task.done()]
        if working:
            await asyncio.wait(working, timeout=_STOPPING_SECONDS)
        for task in self._tasks:
            task.cancel()
        for process in list(self._alive):
            await self._end(process)

    def _begin(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _exchange(
        self, message: bytes, is_allowed: Callable[[], bool], *, reads_rows: bool, seconds: float
    ) -> dict[str, Any]:
        process: Process | None = await self._next_idle(seconds)
        assert process is not None  # noqa: S101
        may_go_on = False
        try:
            may_go_on = is_allowed()
        finally:  # keys that cannot be read must not cost a worker
            if not may_go_on:
                self._idle.put_nowait(process)
        if not may_go_on:
            raise ServiceRefusal("unauthorized")
        began = asyncio.get_running_loop().time()
        try:
            try:
                async with asyncio.timeout(seconds):
                    reply = await _send(process, message)
            except Exception:  # it took too long, it died, or it said what is no reply
                self._begin(self._replace(process))
                reply, process = problem_body("not_finished"), None
            self._note_ledger(reply)
            if process is not None and not (reads_rows and _may_have_read(reply)):
                self._idle.put_nowait(process)
                process = None
            slot = await until_slot(began, self._limits.slot) if reads_rows else 0
        except BaseException:  # the server stops: the answer is not waited for, and the pipe is of no use
            if process is not None:
                await self._end(process)
            raise
        if process is not None:
            self._idle.put_nowait(process)
        return {**reply, "slot": slot}

    def _note_ledger(self, reply: Mapping[str, Any]) -> None:
        """Remember whether the ledger could be used; while it cannot, look again from time to time."""
        is_away = reply.get("error", {}).get("code") == "ledger"
        if is_away and not self._ledger_is_away:
            self._begin(self._watch_ledger())
        if is_away or "content" in reply:
            self._ledger_is_away = is_away

    async def _watch_ledger(self) -> None:
        while not self._stopping:
            await asyncio.sleep(_AGAIN_SECONDS)
            if not self._ledger_is_away:
                return
            with suppress(ServiceRefusal):
                await self._exchange(_PROBE, lambda: True, reads_rows=False, seconds=self._limits.seconds)

    async def _next_idle(self, seconds: float) -> Process:
        """Return a worker that does nothing and lives."""
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                while True:
                    process = await self._idle.get()
                    if process.returncode is None and process not in self._old:
                        return process
                    self._begin(self._replace(process))
        except TimeoutError:
            raise ServiceRefusal("busy") from None
        finally:
            self._waiting -= 1

    async def _replace(self, process: Process | None = None) -> None:
        """End a worker and start another one, as often as it takes."""
        if process is not None:
            self.restarts += 1
            await self._end(process)
        while not self._stopping:
            try:
                await self._start_one()
            except Exception:  # the ledger may be away, or the declaration being amended
                await asyncio.sleep(_AGAIN_SECONDS)
            else:
                return

    async def _start_one(self) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "discreet.server.worker",
            self._settings,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
        )
        self._alive.add(process)
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                said = await _receive(process)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            await self._end(process)
            raise LedgerUnavailable(_NO_WORKER) from None
        except BaseException:
            await self._end(process)
            raise
        if "failed" in said:
            await self._end(process)
            raise error_met(said["failed"])
        self._open.add(process)
        self._idle.put_nowait(process)

    async def _end(self, process: Process) -> None:
        """Kill a worker. The ledger is written in transactions: nothing is left half done."""
        self._alive.discard(process)
        self._open.discard(process)
        self._old.discard(process)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _may_have_read(reply: Mapping[str, Any]) -> bool:
    """Return whether rows may have been read for a reply: for all but answers from the store."""
    content = reply.get("content", {})
    return not (content.get("stored") is True and content.get("paid") == "nothing")


async def _send(process: Process, message: bytes) -> dict[str, Any]:
    assert process.stdin is not None  # noqa: S101
    process.stdin.write(message)
    await process.stdin.drain()
    return await _receive(process)


async def _receive(process: Process) -> dict[str, Any]:
    assert process.stdout is not None  # noqa: S101
    header = await process.stdout.readexactly(LENGTH.size)
    found: dict[str, Any] = json.loads(await process.stdout.readexactly(LENGTH.unpack(header)[0]))
    return found
