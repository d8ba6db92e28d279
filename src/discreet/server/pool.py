"""The workers of a server: each answers one question at a time, and one that takes too long is killed."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from discreet.errors import LedgerUnavailable
from discreet.server.catalogue import ServiceRefusal, problem_body
from discreet.server.service_limits import ServiceLimits
from discreet.server.worker import LENGTH, error_met, packed

__all__ = ["Pool"]

_OPENING_SECONDS = 600.0
_STOPPING_SECONDS = 5.0
_AGAIN_SECONDS = 5.0
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
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting = 0
        self._stopping = False
        self.restarts = 0

    @property
    def is_ready(self) -> bool:
        """Whether some worker has opened the tables and the ledger."""
        return bool(self._alive) and not self._stopping

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

    async def do(self, message: Mapping[str, object]) -> dict[str, Any]:
        """Have a worker answer a message; return its content, or a problem of the catalogue.

        The exchange goes on if the one who asked is gone: what was charged is answered and stored.

        Raises
        ------
        ServiceRefusal
            If too many wait already.
        """
        if self._stopping or self._waiting >= self._limits.waiting:
            raise ServiceRefusal("busy")
        return await asyncio.shield(self._begin(self._exchange(packed(message))))

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

    async def _exchange(self, message: bytes) -> dict[str, Any]:
        process = await self._next_idle()
        try:
            async with asyncio.timeout(self._limits.seconds):
                reply = await _send(process, message)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            self._begin(self._replace(process))
            return problem_body("not_finished")
        except BaseException:  # the server stops: the answer is not waited for, and the pipe is of no use
            await self._end(process)
            raise
        self._idle.put_nowait(process)
        return reply

    async def _next_idle(self) -> Process:
        """Return a worker that does nothing and lives."""
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                while True:
                    process = await self._idle.get()
                    if process.returncode is None:
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
        self._idle.put_nowait(process)

    async def _end(self, process: Process) -> None:
        """Kill a worker. The ledger is written in transactions: nothing is left half done."""
        self._alive.discard(process)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


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
