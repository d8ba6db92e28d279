"""Two clinics that differ in one person, asked the same over HTTP: what is not an answer is the same.

Of answers the numbers differ, by noise or by the person; statuses, headers, sizes, names, labels and the
entries of the ledgers do not.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from effort import sizes
from server.neighbor_pairs import Exchanged, Sight, asked, entries_seen, neighbors, seen, told_apart
from server.service import Service, neighboring_visits, serving, write_small_clinic

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


class ToldByItsEngine(Exchanged):
    """The same fault, and its sentence, in this process."""

    def open(self, file):
        super().open(file)
        self.has_newcomer = "newcomer" in (file.parent / "visits.csv").read_text()

    async def do(self, message, *, is_allowed):
        reply = await super().do(message, is_allowed=is_allowed)
        if self.has_newcomer and "content" in reply:
            reply["content"]["remark"] = "one row could not be cast"
        return reply


PAIRS = [pytest.param(first, 250, marks=pytest.mark.exhaustive) for first in range(0, 2_000, 250)]


@pytest.mark.parametrize(("first", "count"), [*sizes((0, 9), (9, 50)), *PAIRS])
def test_S4_S5_S8_no_pair_of_neighbors_is_told_apart(tmp_path, first, count):
    """Two thousand pairs of tables, each with a question of its own."""
    found, statuses = told_apart(tmp_path, range(first, first + count))
    assert found == []
    assert statuses == {200, 409, 422}  # refusals alone would show little


def test_S4_S5_S8_control_a_remark_about_a_row_is_seen(tmp_path):
    found, _ = told_apart(tmp_path, range(2), ToldByItsEngine)
    assert found != []


def test_neighbors_differ_in_one_person():
    for number in range(20):
        few, many = sorted(map(str.splitlines, neighbors(number)), key=len)
        assert [one for one in many if not one.startswith("newcomer,")] == few
        assert len(many) > len(few)


def differences(pair: tuple[Service, Service], count: int) -> list[int]:
    """Ask two servers the same; return where they differ, -1 for their ledgers."""

    def observe(service: Service) -> list[Sight]:
        key = service.key("ana")
        requests = map(asked, range(count))
        return [seen(service.send("POST", f"/v1/{word}", key, json=body)) for word, body in requests]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(observe, pair)
    ledgers = [entries_seen(service.entries()) for service in pair]
    assert {one[0] for one in first} >= {200, 409, 422}
    places = [place for place in range(count) if first[place] != second[place]]
    return [*places, *([-1] if ledgers[0] != ledgers[1] else [])]


@pytest.fixture
def pair_with(tmp_path):
    """Start two servers over neighboring clinics, with a plant."""
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


@pytest.mark.slow
def test_S4_S5_S8_neighbors_are_told_apart_by_answers_alone(pair_with):
    """The same over a network, with workers in processes of their own."""
    assert differences(pair_with(), 48) == []


@pytest.mark.slow
def test_S4_S5_S8_control_an_engine_that_fails_on_a_row_is_seen(pair_with):
    assert differences(pair_with(FAILS), 24) != []
