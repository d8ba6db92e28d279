"""Pages without a network: the guarded application with a curator in this process instead of workers."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from discreet.front.opening import open_file
from discreet.server.application import application
from discreet.server.catalogue import ServiceRefusal, problem_of
from discreet.server.keys import KeyFile, keys_beside
from discreet.server.owning.owner_options import OwnerOptions
from discreet.server.request_log import RequestLog
from discreet.server.service_limits import ServiceLimits
from discreet.server.words import do_word
from server.service import write_small_clinic

BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
LIMITS = ServiceLimits(slot=0.001)


class InProcess:
    """Says words to a curator as a worker does, without a process of its own."""

    is_ready, workers, restarts = True, 1, 0

    def __init__(self, file: Path) -> None:
        self.curator = open_file(file)
        self.words: list[str] = []

    async def do(self, message, *, is_allowed):
        self.words.append(message["word"])
        if not is_allowed():
            raise ServiceRefusal("unauthorized")
        try:
            reply = json.loads(json.dumps({"content": do_word(self.curator, message, LIMITS)}))
        except Exception as error:
            reply = problem_of(error)
        return {**reply, "slot": 1}


@dataclass
class Dashboard:
    """A clinic with pages."""

    file: Path
    pool: InProcess
    log: io.StringIO
    runner: asyncio.Runner
    options: OwnerOptions | None = None

    @property
    def keys(self) -> KeyFile:
        return KeyFile(keys_beside(self.file))

    def app(self, *, is_encrypted: bool = False):
        log = RequestLog(self.log, "json")
        options = OwnerOptions(declaration=str(self.file)) if self.options is None else self.options
        return application(self.pool, self.keys, LIMITS, log, is_encrypted=is_encrypted, options=options)

    def visitor(self, *, url: str = "http://127.0.0.1:8080", is_encrypted: bool = False) -> Visitor:
        return Visitor(self.app(is_encrypted=is_encrypted), url, self.runner)

    def user(self, name: str, role: str = "analyst", **more: object) -> Visitor:
        """Someone who is logged in with a new key."""
        key = self.keys.create(name, role=role, **more)[1]
        visitor = self.visitor()
        assert visitor.log_in(key).headers["location"] == "/pages/data"
        return visitor

    def logged(self) -> list[dict]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


class Visitor:
    """A browser that follows nothing by itself and sends forms as they are shown."""

    def __init__(self, app, url: str, runner: asyncio.Runner) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._http = httpx.AsyncClient(transport=transport, base_url=url, follow_redirects=False)
        self._runner = runner
        self.cookies = self._http.cookies

    def get(self, path: str, **content: object) -> httpx.Response:
        return self._runner.run(self._http.get(path, **content))

    def post(self, path: str, **content: object) -> httpx.Response:
        return self._runner.run(self._http.post(path, **content))

    def log_in(self, key: str):
        return self.post("/pages/login", data={"form_token": self.token("/pages/login"), "key": key})

    def token(self, path: str = "/pages/data") -> str:
        """The token in the forms of a page."""
        return re.search(r'name="form_token" value="([0-9a-f]{64})"', self.get(path).text)[1]

    def send(self, path: str, **fields: str):
        """Send a form with the token that its page shows."""
        return self.post(path, data={"form_token": self.token(), **fields})


@contextmanager
def clinic_with_pages(directory: Path, **caps: float) -> Iterator[Dashboard]:
    write_small_clinic(directory, **caps)
    file = directory / "clinic.toml"
    with asyncio.Runner() as runner:
        pool = InProcess(file)
        yield Dashboard(file=file, pool=pool, log=io.StringIO(), runner=runner)
        pool.curator.close()
