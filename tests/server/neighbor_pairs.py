"""Pairs of clinics that differ in all rows of one person, and what a client sees of each.

All values that engines stumble on are in the rows: text where numbers belong, numbers beyond every type, keys
that nobody else has. What is compared is everything that is sent, to the byte, but for the noisy numbers, the
time of the charge and the number of the request.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from canary import private
from discreet.front.opening import open_file
from discreet.server.application import application
from discreet.server.keys import KeyFile, keys_beside
from discreet.server.request_log import RequestLog
from server.pages.dashboard import LIMITS, InProcess
from server.service import ALL_VISITS, DECLARATION

QUESTIONS = [
    f"{ALL_VISITS} WHERE age <> {{i}}",
    f"{ALL_VISITS} WHERE CAST(note AS INTEGER) = {{i}}",
    f"{ALL_VISITS} WHERE 1 / (age - {{i}}) > 0",
    f"{ALL_VISITS} WHERE LENGTH(note) > {{i}}",
    f"{ALL_VISITS} WHERE note LIKE '%{{i}}%'",
    "SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE age > {i} GROUP BY city",
    "SELECT SUM(cost) AS s, AVG(age) AS a FROM visits WHERE age <> {i}",
    "SELECT MEDIAN(age) AS m FROM visits WHERE cost > {i}",
    "SELECT note, COUNT(*) AS n FROM visits WHERE age <> {i} GROUP BY note",
    "SELECT SUM(note) AS s FROM visits WHERE age <> {i}",
    "SELECT city FROM visits WHERE age = {i}",
    "SELECT COUNT(*) AS n FROM nowhere WHERE age = {i}",
]
WORDS = ("ask", "ask", "ask", "preview", "explain")
_CITIES = ("Taipei", "Hamilton", "Atlantis", "", "taipei", "HIV+", "NULL")
_NUMBERS = ("17", "89", "0", "-1", "110", "1e308", "inf", "NaN", "", "abc", "-99999999999999999999", "0x10")
_NOTES = ("x", "7", "9" * 40, "'; DROP TABLE visits", "é" * 300, "%_", "1e400", "")

Sight = tuple[int, dict[str, str], str]


def asked(number: int) -> tuple[str, dict[str, object]]:
    """The word and the body of one request: a question, a preview, an explanation, or too large an offer."""
    question = QUESTIONS[number % len(QUESTIONS)].replace("{i}", str(number))
    offer = 10**6 if number % 7 == 1 else "0.001"
    return WORDS[number % 5], {"question": question, "epsilon": offer}


def neighbors(number: int) -> tuple[str, str]:
    """Two tables of visits, one with the rows of one more person somewhere among the others."""
    chance = random.Random(number)

    def row(person: str, oddness: float) -> str:
        odd = chance.random() < oddness
        city, age, cost, note = (
            chance.choice(pool if odd else pool[:2]) for pool in (_CITIES, _NUMBERS, _NUMBERS, _NOTES)
        )
        return f"{person},{city},{age},{cost},{note}"

    rows = [row(f"p{i // 2}", 0.2) for i in range(chance.randint(2, 60))]
    more = list(rows)
    for _ in range(chance.randint(1, 6)):
        more.insert(chance.randint(0, len(more)), row("newcomer", 0.9))
    pair = ["\n".join(["patient_id,city,age,cost,note", *one, ""]) for one in (rows, more)]
    chance.shuffle(pair)
    return pair[0], pair[1]


def seen(response: httpx.Response) -> Sight:
    """What a client sees, without noisy numbers, times and the number of the request."""
    headers = {name: value for name, value in response.headers.items() if name != "x-request-id"}
    assert headers["content-length"] == str(len(response.content))
    content = response.json()
    if response.status_code == 200 and "rows" in content:
        del headers["content-length"]  # as long as the noisy numbers are
        content["rows"] = [
            {name: value if isinstance(value, str) else "noisy" for name, value in row.items()}
            for row in content["rows"]
        ]
        del content["label"]["charge"]["time"]
    return response.status_code, headers, json.dumps(content)


def entries_seen(entries: list[dict]) -> list[dict]:
    """What an auditor sees of a ledger, without the hash and the size of noisy numbers."""
    return [{**one, "sha256": "", "size": 0} for one in entries]


class Exchanged(InProcess):
    """A pool whose curator is opened anew for each pair."""

    def __init__(self) -> None:
        self.words = []

    def open(self, file: Path) -> None:
        self.curator = open_file(file)


@dataclass
class Side:
    """A guarded application over one of two clinics, without a network."""

    directory: Path
    pool: Exchanged
    http: httpx.AsyncClient

    async def observe(self, table: str, number: int) -> tuple[Sight, list[dict]]:
        """Open a clinic with these visits and a new ledger; return what a client and an auditor see."""
        private(self.directory / "visits.csv").write_text(table)
        (self.directory / "clinic.ledger").unlink(missing_ok=True)
        self.pool.open(self.directory / "clinic.toml")
        word, body = asked(number)
        found = seen(await self.http.post(f"/v1/{word}", json=body))
        entries = [{"kind": one.kind, **one.body} for one in self.pool.curator.ledger.entries()]
        self.pool.curator.close()
        return found, entries_seen(entries)


@contextmanager
def side(directory: Path, pool: Exchanged) -> Iterator[Side]:
    """Write a declaration, and guard it."""
    directory.mkdir()
    file = directory / "clinic.toml"
    file.write_text(DECLARATION.format(epsilon=1000, share=40))
    keys = KeyFile(keys_beside(file))
    headers = {"authorization": f"Bearer {keys.create('ana', role='analyst')[1]}"}
    app = application(pool, keys, LIMITS, RequestLog(io.StringIO(), "none"))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    yield Side(
        directory, pool, httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)
    )


def told_apart(
    directory: Path, numbers: range, kind: type[Exchanged] = Exchanged
) -> tuple[list[int], set[int]]:
    """Ask both clinics of each pair the same; return the pairs that a client tells apart, and statuses."""

    async def compare() -> tuple[list[int], set[int]]:
        found, statuses = [], set()
        for number in numbers:
            first, second = [
                await one.observe(table, number) for one, table in zip(sides, neighbors(number), strict=True)
            ]
            statuses.add(first[0][0])
            if first != second:
                found.append(number)
        return found, statuses

    with side(directory / "one", kind()) as one, side(directory / "other", kind()) as other:
        sides = one, other
        return asyncio.run(compare())
