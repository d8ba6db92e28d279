"""The locks, the bill of materials and the workflow agree with what is declared."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from book.packages import LOCKED
from book.requirements import RELEASED, brought_by, requirements_of
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from discreet.version import __version__

ROOT = Path(__file__).parents[2]
LIBRARY = re.compile(
    r"^([\w.-]+)==(\S+)(?: ; (.*?))? \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)


def read_lock(text: str) -> dict[str, set[str]]:
    """Return the versions of each library of a lock; refuse lines that are not a version with its hashes."""
    rest = LIBRARY.sub("", text)
    assert not [line for line in rest.splitlines() if not line.startswith("#")], "a line without hashes"
    found: dict[str, set[str]] = {}
    for name, version, _, _ in LIBRARY.findall(text):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def missing_from(lock: dict[str, set[str]], requirements: list[Requirement]) -> set[str]:
    """Return what is required and not in a lock, or in a version that is not allowed."""
    return {
        one.name
        for one in requirements
        if not lock.get(canonicalize_name(one.name))
        or not all(one.specifier.contains(version) for version in lock[canonicalize_name(one.name)])
    }


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_has_all_that_is_required(name):
    text = (ROOT / "locks" / f"{name}.txt").read_text()
    lock = read_lock(text)
    required = requirements_of(*LOCKED[name])
    assert missing_from(lock, required) == set()
    closed = brought_by(required)
    assert closed.keys() <= lock.keys() | {"importlib-metadata", "zipp"}  # of other Pythons
    assert "://" not in text
    assert "torch" not in lock


def test_a_lock_that_lags_behind_is_noticed():
    lock = read_lock((ROOT / "locks" / "core.txt").read_text())
    assert missing_from(lock, [Requirement("polars")]) == {"polars"}
    assert missing_from(lock, [Requirement("numpy>=99")]) == {"numpy"}
    with pytest.raises(AssertionError, match="without hashes"):
        read_lock("numpy==2.4.6\n")


@pytest.mark.parametrize("name", LOCKED)
def test_locks_keep_to_the_versions_of_the_tests(name):
    pinned = {
        canonicalize_name(line.split("==")[0]): line.split("==")[1]
        for line in (ROOT / "constraints.txt").read_text().split("\n")
        if "==" in line
    }
    lock = read_lock((ROOT / "locks" / f"{name}.txt").read_text())
    assert {one: lock[one] for one in lock.keys() & pinned.keys()} == {
        one: {pinned[one]} for one in lock.keys() & pinned.keys()
    }


def test_make_lock_writes_what_is_tried():
    recipe = (ROOT / "Makefile").read_text()
    for name, extras in LOCKED.items():
        line = re.search(rf"^\t\$\(LOCK\)(.*) --output-file locks/{name}\.txt$", recipe, flags=re.M)
        assert re.findall(r"--extra (\S+)", line[1]) == [*extras]


def test_released_extras_are_those_of_users():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    others = {"test", "lint", "docs", "bench"}
    assert set(project["optional-dependencies"]) == {*RELEASED, *others}
    assert {*LOCKED["all"], "tables", "learn-torch"} == {*RELEASED}


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert __version__ == project["version"] == cited[1]


def test_workflows_run_targets_that_exist():
    """CI elsewhere runs what anybody runs on a clone."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    named = re.search(r"target: \[(.*)\]", workflow)[1].split(", ")
    named += list(re.findall(r"run: make ([\w-]+)", workflow))
    assert {"lint", "test", "test-slow", "docs", "dist"} <= set(named) <= targets
