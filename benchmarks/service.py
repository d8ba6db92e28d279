"""A server under load, and under SIGKILL: ``python -m benchmarks.service [--seconds 60] [--kills 200]``.

Clients ask questions that nobody asked before, until more was offered than the budget holds. Printed are
answers a second, the 99th percentile of the time of an answer, statuses, and whether the budget was spent to
the last charge and no further. With ``--kills``, workers and the server are killed meanwhile, and every
question that was charged must be answered afterwards, at no further cost. ``--postgres URL`` keeps the ledger
there; without it, in a file.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from discreet.front.declaration import read_declaration
from discreet.server.keys import KeyFile, keys_beside

PRICE = "0.01"
QUESTION = "SELECT COUNT(*) AS n FROM visits WHERE age <> {}"
DECLARATION = """\
[ledger]
location = "{location}"
{name}
[budget]
epsilon = {epsilon}

[tables.visits]
source = "visits.csv"
person = "patient"
limits = {{ rows = 2 }}

[tables.visits.columns]
age = {{ lower = 0, upper = 110 }}
"""


@dataclass
class Server:
    """A server in a process of its own, which may be killed and started again."""

    directory: Path
    process: subprocess.Popen[str] | None = None
    url: str = ""

    def start(self) -> None:
        """Start it, on the same port as before."""
        port = self.url.rpartition(":")[2] or "0"
        typed = ["serve", str(self.directory / "clinic.toml"), "--port", port, "--workers", "2"]
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "discreet", *typed, "--slot", "0.02", "--log-format", "none"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if " on http" not in line:
            raise SystemExit("the server did not start")
        self.url = line.split(" on ")[1].strip()

    def kill(self, chance: random.Random) -> None:
        """Kill a worker; or, one time in ten, the server itself, and start it again."""
        assert self.process is not None
        process = self.process.pid
        workers = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
        if workers and chance.random() < 0.9:
            os.kill(int(chance.choice(workers)), signal.SIGKILL)
            return
        self.process.kill()
        self._close(self.process)
        self.start()

    def stop(self) -> None:
        """Stop it, as an operator does."""
        assert self.process is not None
        self.process.terminate()
        self._close(self.process)

    @staticmethod
    def _close(process: subprocess.Popen[str]) -> None:
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@dataclass
class Seen:
    """What clients saw."""

    answers: dict[int, object] = field(default_factory=dict)
    codes: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    unanswered: set[int] = field(default_factory=set)

    def client(self, server: Server, key: str, numbers: list[int], until: float) -> None:
        """Ask one question after the other."""
        with httpx.Client(timeout=120, trust_env=False) as client:
            for number in numbers:
                if time.monotonic() > until:
                    return
                self.ask(client, server, key, number)

    def ask(self, client: httpx.Client, server: Server, key: str, number: int) -> dict[str, object]:
        """Ask one question; a server that is away is one of the answers."""
        body = {"question": QUESTION.format(number), "epsilon": PRICE}
        began = time.monotonic()
        try:
            sent = client.post(f"{server.url}/v1/ask", json=body, headers={"authorization": f"Bearer {key}"})
        except httpx.HTTPError:
            self.codes["gone"] += 1
            self.unanswered.add(number)
            time.sleep(0.2)
            return {}
        content: dict[str, object] = sent.json()
        problem = content.get("error")
        self.codes[str(problem["code"]) if isinstance(problem, dict) else "answered"] += 1
        code = problem["code"] if isinstance(problem, dict) else ""
        if code == "busy":  # refused before anything else: come back later
            time.sleep(0.2)
        elif code not in {"", "budget_exceeded"}:
            self.unanswered.add(number)
        if problem is None:
            self.times.append(time.monotonic() - began)
            self.answers[number] = content["rows"]
        return content


def prepare(directory: Path, charges: int, postgres: str | None) -> None:
    """Write a small clinic whose budget holds so many charges."""
    name = f'name = "load {time.time_ns()}"' if postgres else ""
    location = postgres or "clinic.ledger"
    text = DECLARATION.format(location=location, name=name, epsilon=f'"{charges}/100"')
    (directory / "clinic.toml").write_text(text, encoding="utf-8")
    rows = "".join(f"p{i % 900},{i % 90}\n" for i in range(2000))
    (directory / "visits.csv").write_text(f"patient,age\n{rows}", encoding="utf-8")


def charged(directory: Path) -> int:
    """Return how many charges the ledger has."""
    ledger = read_declaration(directory / "clinic.toml").ledger.open()
    return sum(entry.kind == "charge" for entry in ledger.entries())


def under_load(
    directory: Path,
    *,
    clients: int,
    seconds: float,
    charges: int,
    kills: int = 0,
    postgres: str | None = None,
) -> Seen:
    """Let clients ask for a time, killing meanwhile; check the budget, and that what was charged is answered.

    Raises
    ------
    AssertionError
        If an answer left without a charge, a charge has no answer, or the budget was exceeded.
    """
    prepare(directory, charges, postgres)
    keys = KeyFile(keys_beside(directory / "clinic.toml"))
    made = [keys.create(f"client {i}", role="analyst")[1] for i in range(clients)]
    server, seen = Server(directory), Seen()
    server.start()
    until = time.monotonic() + seconds
    try:
        asked = [list(range(i, 100_000, clients)) for i in range(clients)]
        threads = [
            threading.Thread(target=seen.client, args=(server, key, numbers, until))
            for key, numbers in zip(made, asked, strict=True)
        ]
        for thread in threads:
            thread.start()
        chance = random.Random(0)  # noqa: S311
        for _ in range(kills):
            time.sleep(chance.uniform(0.05, seconds / max(kills, 1)))
            server.kill(chance)
        for thread in threads:
            thread.join()
        assert len(seen.answers) <= charged(directory) <= charges, (len(seen.answers), charges)
        again = Seen()
        with httpx.Client(timeout=120, trust_env=False) as client:
            for number in sorted(seen.unanswered):  # what was charged is answered now, at no further cost
                again.ask(client, server, made[0], number)
            known = {**again.answers, **seen.answers}
            assert charged(directory) == len(known) <= charges, (charged(directory), len(known))
            for number, rows in list(known.items())[:100]:
                content = again.ask(client, server, made[0], number)
                assert (content.get("rows"), content.get("paid")) == (rows, "nothing"), content
    finally:
        server.stop()
    return seen


def report(name: str, seen: Seen, charges: int, seconds: float) -> None:
    """Print what was seen."""
    times = sorted(seen.times)
    slowest = times[int(0.99 * len(times))] if times else float("nan")
    answered, refused = len(seen.answers), seen.codes["budget_exceeded"]
    print(f"{name}: {answered / seconds:.1f} answers/s, p99 {slowest:.3f} s; {dict(seen.codes)}")
    print(f"  budget of {charges} charges: {answered} answered, {refused} refused for the budget")


def main() -> None:
    """Load, then kill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--charges", type=int, default=300)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--postgres")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        seen = under_load(
            Path(directory),
            clients=options.clients,
            seconds=options.seconds,
            charges=options.charges,
            kills=options.kills,
            postgres=options.postgres,
        )
    report("PostgreSQL" if options.postgres else "SQLite", seen, options.charges, options.seconds)


if __name__ == "__main__":
    main()
