"""What users see: the documented names, and a light import."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import discreet

ROOT = Path(__file__).parents[2]


def test_public_names_are_the_documented_ones():
    reference = (ROOT / "docs" / "reference.md").read_text()
    section = reference.split("## Top-level names")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert sorted(documented) == sorted(discreet.__all__)
    assert all(getattr(discreet, name) is not None for name in discreet.__all__)
    assert set(discreet.__all__) <= set(dir(discreet))


def test_public_mechanisms_are_the_documented_ones():
    reference = (ROOT / "docs" / "reference.md").read_text()
    section = reference.split("## Mechanisms")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert sorted(documented) == sorted(discreet.mechanisms.__all__)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(discreet, "Laplacian")


def loaded_by(statement: str) -> set[str]:
    """The top-level libraries that a fresh interpreter holds after a statement."""
    script = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return set(json.loads(output))


def test_import_loads_nothing_heavy():
    loaded = loaded_by("import discreet")
    assert not {"numpy", "scipy", "ibis", "duckdb", "sqlglot", "torch", "matplotlib", "pandas"} & loaded


def test_a_mechanism_loads_only_light_parts():
    loaded = loaded_by("import discreet; discreet.Laplace(sensitivity=1, epsilon=1).release(3)")
    assert not {"scipy.stats", "scipy.optimize", "ibis", "duckdb", "sqlglot", "matplotlib"} & loaded
