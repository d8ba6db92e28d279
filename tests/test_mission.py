"""The table of what a course on differential privacy teaches names tests that exist, for every row."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = tomllib.loads((ROOT / "tests" / "mission.toml").read_text(encoding="utf-8"))
SECTIONS = {"A": 10, "B": 6, "C": 8, "D": 10, "E": 12}
ROWS = [f"{letter}{number}" for letter, last in SECTIONS.items() for number in range(1, last + 1)]


@cache
def functions_of(path: str) -> frozenset[str]:
    """The test functions of a file, read and not run."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


def faults(row: dict[str, object]) -> list[str]:
    """What is wrong with the entry of a row."""
    if not row.get("about"):
        return ["does not say what it is about"]
    if "open" in row:
        return (
            []
            if set(row) == {"about", "open"} and row["open"]
            else ["is open, and says that something holds"]
        )
    if not set(row) <= {"about", "holds", "tests", "left"} or not row.get("holds") or not row.get("tests"):
        return ["is not open, and lacks what holds or the tests of it"]
    named = row["tests"]
    found = [f"names {one} twice" for one in set(named) if named.count(one) > 1]
    for one in named:
        path, _, name = one.partition("::")
        if not (path.startswith("tests/") and (ROOT / path).is_file()):
            found.append(f"names a file that does not exist: {one}")
        elif name not in functions_of(path):
            found.append(f"names a test that does not exist: {one}")
    return found


def test_every_row_has_an_entry_in_order_and_no_other():
    assert list(TABLE) == ROWS


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_tests_that_exist_or_is_open(row):
    assert faults(TABLE[row]) == []


def test_faults_are_found():
    good = TABLE["A1"]
    assert faults(good) == []
    assert faults(good | {"tests": []})
    assert faults(good | {"holds": ""})
    assert faults(good | {"open": "something"})
    assert faults(good | {"done": True})
    assert faults({"about": "", "open": "something"})
    assert faults({"about": "nothing yet", "open": ""})
    assert faults(good | {"tests": [good["tests"][0]] * 2})
    assert faults(good | {"tests": ["tests/test_foundations.py::test_that_nobody_wrote"]})
    assert faults(good | {"tests": ["tests/test_that_nobody_wrote.py::test_one"]})
    assert faults(good | {"tests": ["test_foundations.py::test_the_gaussian_tail_lemma"]})
