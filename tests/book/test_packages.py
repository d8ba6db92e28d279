"""What was installed becomes a file with hashes and a bill of materials; names and versions agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from book.packages import bill_of_materials, locked

from discreet.version import __version__

ROOT = Path(__file__).parents[2]
INSTALLED = [
    {
        "metadata": {"name": "numpy", "version": "2.0"},
        "download_info": {"archive_info": {"hashes": {"sha256": "ab" * 32}}},
    },
    {"metadata": {"name": "discreet", "version": "0.1.0"}, "download_info": {"dir_info": {}}},
]


def test_dependencies_are_locked_with_hashes():
    assert locked(INSTALLED) == f"numpy==2.0 --hash=sha256:{'ab' * 32}\n"


def test_the_bill_lists_everything():
    components = bill_of_materials(INSTALLED)["components"]
    assert [one["purl"] for one in components] == ["pkg:pypi/discreet@0.1.0", "pkg:pypi/numpy@2.0"]
    assert components[1]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]


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
