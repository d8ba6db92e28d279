"""A light import: what loads with the front door, and what does not."""

from __future__ import annotations

import json
import subprocess
import sys

import discreet


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
