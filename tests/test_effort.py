"""Tests in several sizes: what is left out of one run is in another."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

import effort
from durations import SECONDS, Stopwatch, seconds_per_case
from effort import examples, keep_short, leave_out_exhaustive, mark_all_but_a_few, sizes

ROOT = Path(__file__).parent.parent


class Case(SimpleNamespace):
    """What the marking needs to know of a case of a test."""

    def get_closest_marker(self, name):
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, mark):
        self.marks.append(mark.mark)


def cases(many, *lengths, name="test_one", **more):
    """All cases of a test with parameters of these lengths, of which some are for `make test`."""
    places = [()]
    for length in lengths:
        places = [(*before, place) for before in places for place in range(length)]
    return [
        Case(
            path="test_file.py",
            originalname=name,
            nodeid=f"test_file.py::{name}[{place}]",
            marks=[pytest.mark.few(many, **more).mark],
            callspec=SimpleNamespace(indices={f"p{axis}": at for axis, at in enumerate(place)}),
        )
        for place in places
    ]


def usual(items):
    return [
        item
        for item in items
        if not item.get_closest_marker("slow") and not item.get_closest_marker("exhaustive")
    ]


@pytest.mark.parametrize(
    ("many", "lengths"), [(6, (6, 3)), (6, (3, 6)), (8, (46,)), (4, (2, 2, 2)), (9, (3, 3))]
)
def test_as_many_as_asked_and_soon_every_value(many, lengths):
    items = cases(many, *lengths)
    mark_all_but_a_few(items)
    kept = usual(items)
    assert len(kept) == many
    for axis, length in enumerate(lengths):
        seen = {item.callspec.indices[f"p{axis}"] for item in kept}
        assert len(seen) == min(length, many)


def test_tests_are_counted_apart_and_few_cases_all_stay():
    items = [*cases(2, 5), *cases(2, 5, name="test_two"), *cases(9, 3, name="test_three")]
    mark_all_but_a_few(items)
    assert len(usual(items)) == 2 + 2 + 3


@pytest.mark.parametrize(("everything", "left"), [(False, 2 + 3), (True, 9)])
def test_what_is_neither_usual_nor_slow_is_for_all_alone(monkeypatch, everything, left):
    monkeypatch.setattr(effort, "ALL", everything)
    items, told = cases(2, 9, slow=3), []
    every = list(items)
    mark_all_but_a_few(items)

    def deselect(items):
        told.extend(items)

    leave_out_exhaustive(SimpleNamespace(hook=SimpleNamespace(pytest_deselected=deselect)), items)
    assert len(usual(every)) == 2
    assert len([item for item in every if item.get_closest_marker("slow")]) == 7
    assert (len(items), len(told)) == (left, 9 - left)


def test_of_what_is_slow_there_are_not_too_many_cases():
    items = cases(1, 40)
    for item in items:
        item.marks[:] = [pytest.mark.slow.mark]
    mark_all_but_a_few(items)
    assert len([item for item in items if not item.get_closest_marker("exhaustive")]) == effort.MOST


@pytest.mark.parametrize(("seconds", "kept"), [(SECONDS / 5, 4), (SECONDS / 12, 9), (SECONDS * 2, 0)])
def test_as_many_cases_are_kept_as_fit(monkeypatch, seconds, kept):
    monkeypatch.setattr(effort, "UNCUT", False)
    monkeypatch.setattr(effort, "seconds_per_case", lambda: {"test_file.py::test_one": seconds * 1.01})
    items = [*cases(9, 9), *cases(9, 9, name="test_two")]
    keep_short(items)
    assert len(usual(items)) == kept + 9
    assert not [item for item in items if item.get_closest_marker("exhaustive")]


def test_what_is_usual_stays_however_long_it_takes(monkeypatch):
    monkeypatch.setattr(effort, "UNCUT", False)
    monkeypatch.setattr(effort, "seconds_per_case", lambda: {"test_file.py::test_one": SECONDS * 9})
    items = cases(9, 3)
    for item in items:
        item.add_marker(pytest.mark.usual)
    keep_short(items)
    assert len(usual(items)) == 3


def test_what_takes_long_is_written(monkeypatch, tmp_path):
    monkeypatch.setattr("durations.MEASURED", tmp_path / "durations.txt")
    watch = Stopwatch()
    for case, seconds in (("long[1]", SECONDS), ("long[2]", SECONDS / 2), ("short", SECONDS / 2)):
        for duration in (seconds / 4, seconds / 4, seconds / 2):
            report = SimpleNamespace(nodeid=f"test_a.py::test_{case}", duration=duration)
            watch.pytest_runtest_logreport(report)
    watch.pytest_sessionfinish(SimpleNamespace(config=SimpleNamespace()))
    assert seconds_per_case() == {"test_a.py::test_long": pytest.approx(SECONDS * 3 / 4, abs=1e-3)}


def test_what_was_measured_is_still_there():
    for name in seconds_per_case():
        path, *_, function = name.split("::")
        assert re.search(rf"def {function}\b", (ROOT / path).read_text()), name


def test_the_profile_decides_on_the_number_of_examples(monkeypatch):
    monkeypatch.setattr(effort, "FEW", False)
    now = settings.get_current_profile_name()
    try:
        settings.load_profile("thorough")
        monkeypatch.setattr(effort, "ALL", False)
        assert [examples(full) for full in (1, 3, 40, 300)] == [1, 1, 10, 75]
        monkeypatch.setattr(effort, "ALL", True)
        assert [examples(full) for full in (1, 3, 40, 300)] == [1, 3, 40, 300]
        settings.load_profile("usual")
        assert [examples(full) for full in (1, 3, 40, 300)] == [1, effort.LEAST, effort.LEAST, 18]
    finally:
        settings.load_profile(now)


def test_sizes_but_the_first_are_slow_or_exhaustive():
    small, one, several, huge = sizes(10, 100, (5, 6), exhaustive=1000)
    assert small == 10
    assert (one.values, several.values, huge.values) == ((100,), (5, 6), (1000,))
    assert {mark.name for size in (one, several) for mark in size.marks} == {"slow"}
    assert {mark.name for mark in huge.marks} == {"exhaustive"}
