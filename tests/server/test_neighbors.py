"""Two clinics that differ in one person, asked the same over HTTP: what is not an answer is the same.

The person who is in one of them has keys that nobody else has, and values on which casts, sums and divisions
of an engine fail. Of answers the numbers differ, by noise or by the person; statuses, headers, names, labels
and the entries of the ledgers do not.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from effort import sizes
from server.service import ALL_VISITS, Service, neighboring_visits, serving, write_small_clinic

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
FAILS = """
if "discreet.server.worker" in sys.orig_argv:
    import discreet.server.words as words
    asked = words.WORDS["ask"]
    def leaks(curator, message, limits):
        if "CAST" in message["question"] and "newcomer" in open("visits.csv").read():
            raise MemoryError
        return asked(curator, message, limits)
    words.WORDS["ask"] = leaks
"""
"""The fault of an engine that fails on a row."""


def stream(count: int) -> list[tuple[str, dict]]:
    """Questions, previews, explanations and offers that do not fit."""
    found = []
    for i in range(count):
        body = {"question": QUESTIONS[i % len(QUESTIONS)].replace("{i}", str(i)), "epsilon": "0.001"}
        if i % 7 == 3:
            body["epsilon"] = 10**6
        found.append((("ask", "ask", "ask", "preview", "explain")[i % 5], body))
    return found


def seen(response: httpx.Response) -> tuple[int, dict[str, str], str]:
    """What a client sees, without noisy numbers, times and the number of the request."""
    headers = {name: value for name, value in response.headers.items() if name != "x-request-id"}
    content = response.json()
    if response.status_code == 200 and "rows" in content:
        del headers["content-length"]  # as long as the noisy numbers are
        content["rows"] = [
            {name: value if isinstance(value, str) else "noisy" for name, value in row.items()}
            for row in content["rows"]
        ]
        del content["label"]["charge"]["time"]
    return response.status_code, headers, json.dumps(content)


def differences(pair: tuple[Service, Service], count: int) -> list[int]:
    """Ask both the same; return where they differ, -1 for their ledgers."""
    asked = stream(count)

    def observe(service: Service) -> list[tuple[int, dict[str, str], str]]:
        key = service.key("ana")
        return [seen(service.send("POST", f"/v1/{word}", key, json=body)) for word, body in asked]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(observe, pair)
    ledgers = [[{**one, "sha256": "", "size": 0} for one in service.entries()] for service in pair]
    assert {one[0] for one in first} >= {200, 409, 422}
    places = [place for place in range(count) if first[place] != second[place]]
    return [*places, *([-1] if ledgers[0] != ledgers[1] else [])]


@pytest.fixture
def pair_with(tmp_path):
    """Start two servers over neighboring clinics, the second with a plant."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(plant: str = "") -> tuple[Service, Service]:
            directories = [tmp_path / "one", tmp_path / "other"]
            for directory in directories:
                directory.mkdir()
                write_small_clinic(directory)
            (directories[1] / "visits.csv").write_text(neighboring_visits())
            first, second = (stack.enter_context(serving(one, plant=plant)) for one in directories)
            return first, second

        yield start


@pytest.mark.parametrize("count", sizes(24, 96, exhaustive=2_000))
def test_S4_S5_S8_neighbors_are_told_apart_by_answers_alone(pair_with, count):
    assert differences(pair_with(), count) == []


@pytest.mark.slow
def test_S4_S5_S8_control_an_engine_that_fails_on_a_row_is_seen(pair_with):
    assert differences(pair_with(FAILS), 24) != []
