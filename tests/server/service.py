"""A real server in a process of its own, on a port of the loopback, over a small clinic."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from discreet.server.keys import KeyFile, keys_beside
from front.declared_clinic import visits, write_clinic

ALL_VISITS = "SELECT COUNT(*) AS n FROM visits"
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY city"

DECLARATION = """\
[ledger]
location = "clinic.ledger"

[budget]
epsilon = {epsilon}
per_analyst = {{ epsilon = {share} }}

[tables.visits]
source = "visits.csv"
person = "patient_id"
limits = {{ rows = 2 }}

[tables.visits.columns]
cost = {{ lower = 0, upper = 5000, step = 0.01 }}
age = {{ lower = 0, upper = 110 }}
city = {{ keys = ["Taipei", "Hamilton"] }}
"""

WAITS = """
import os, sys, time
if "discreet.server.worker" in sys.orig_argv:
    import discreet.curator.door as door
    computed = door._compute_and_add_noise
    def waits(request, tables):
        while os.path.exists({marker!r}):
            time.sleep(0.05)
        return computed(request, tables)
    door._compute_and_add_noise = waits
"""
"""Makes a worker wait after the charge, before it computes, as long as a file is there."""

SEES = """
if "serve" in sys.argv:
    import discreet.server.keys as keys
    looked_up = keys.KeyFile.find
    def notes(self, text):
        found = looked_up(self, text)
        if found is not None:
            with open({seen!r}, "a") as seen:
                print(found.name, file=seen)
        return found
    keys.KeyFile.find = notes
"""
"""Makes a server write down whose key it has let in."""


@dataclass(frozen=True)
class Service:
    """A running server, and what is needed to use it."""

    directory: Path
    url: str
    process: subprocess.Popen

    @property
    def file(self) -> Path:
        return self.directory / "clinic.toml"

    @property
    def keys(self) -> KeyFile:
        return KeyFile(keys_beside(self.file))

    @property
    def marker(self) -> Path:
        """While this file is there, questions wait after their charge."""
        return self.directory / "wait"

    def has_seen(self, *names: str) -> bool:
        """Whether requests with these persons' keys have come in."""
        seen = self.directory / "seen"
        return seen.exists() and {*names} <= {*seen.read_text().split("\n")}

    def key(self, name: str, role: str = "analyst", **more: object) -> str:
        return self.keys.create(name, role=role, **more)[1]

    def log(self) -> str:
        return "".join(path.read_text() for path in sorted(self.directory.glob("*.log")))

    def send(self, method: str, path: str, key: str | None = None, **content: object) -> httpx.Response:
        headers = {
            **({} if key is None else {"authorization": f"Bearer {key}"}),
            **content.pop("headers", {}),
        }
        with httpx.Client(base_url=self.url, timeout=300, trust_env=False) as client:
            return client.request(method, path, headers=headers, **content)

    def ask(self, key: str, question: str = ALL_VISITS, **terms: object) -> httpx.Response:
        return self.send("POST", "/v1/ask", key, json={"question": question, **terms})

    def entries(self) -> list[dict]:
        """The entries of the ledger, read beside the server."""
        from discreet.front.declaring.declaration import read_declaration

        with_ledger = read_declaration(self.file).ledger.open()
        return [{"kind": one.kind, **one.body} for one in with_ledger.entries()]

    def charges(self) -> list[dict]:
        return [one for one in self.entries() if one["kind"] == "charge"]

    def workers(self) -> list[int]:
        """The processes of the workers."""
        found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(one) for one in found.split()]


def code_of(response: httpx.Response) -> str:
    """The code of a problem; empty for an answer."""
    return response.json().get("error", {}).get("code", "")


def wait_for(condition) -> None:
    """Wait until something is so; the limit is for a machine that does much else."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def write_small_clinic(directory: Path, *, epsilon: float = 1000, share: float = 40) -> None:
    write_clinic(directory, DECLARATION.format(epsilon=epsilon, share=share))


@contextmanager
def serving(
    directory: Path, *options: str, plant: str = "", name: str = "server", ends: int = 0
) -> Iterator[Service]:
    """Start a server over a directory; `plant` is code that it and its workers run first."""
    planted = directory / f"planted-{name}"
    planted.mkdir()
    waits = WAITS.format(marker=os.fspath(directory / "wait"))
    code = waits + SEES.format(seen=os.fspath(directory / "seen")) + plant
    (planted / "sitecustomize.py").write_text(code)
    path = os.pathsep.join([os.fspath(planted), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    typed = ["serve", os.fspath(directory / "clinic.toml"), "--port", "0", "--workers", "1"]
    with (directory / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", *typed, "--slot", "0.05", "--log-format", "json", *options],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            cwd=directory,
        )
    try:
        line = process.stdout.readline()
        assert " on http" in line, (directory / f"{name}.log").read_text()
        yield Service(directory=directory, url=line.split(" on ")[1].strip(), process=process)
    finally:
        process.terminate()
        ended = process.wait(120)
        process.stdout.close()
        assert ended == ends


def logged(service: Service) -> list[dict]:
    return [json.loads(line) for line in service.log().splitlines()]


def neighboring_visits() -> str:
    """The visits, and those of one more person, full of what makes engines fail."""
    more = ["newcomer,HIV+,abc,1e308,inf", "newcomer,Taipei,-99999999999999999999,NaN,'; DROP TABLE visits"]
    return visits() + "\n".join([*more, ""])
