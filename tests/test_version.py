"""The version is said once in the code, and is that of the package."""

from __future__ import annotations

import tomllib
from pathlib import Path

import discreet
from discreet.version import __version__


def test_it_is_that_of_the_package():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert discreet.__version__ == __version__ == project["project"]["version"]
