"""A light import: what loads with the front door, and what does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

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


ASK = """
import discreet as dp
people = dp.Table(
    {file!r}, person="person", limits=dp.Limits(rows=2),
    columns={{"city": dp.Keys(["a", "b"]), "income": dp.Bounds(0, 100, null=0)}}, prepare={prepare},
)
curator = dp.Curator({{"people": people}}, budget=dp.Budget(epsilon=9, delta=1e-6), ledger={ledger!r})
curator.ask("SELECT city, COUNT(*) AS n, AVG(income) AS mean FROM people GROUP BY city", epsilon=1)
"""


@pytest.mark.parametrize("prepare", [False, True])
def test_opening_a_file_and_asking_load_what_they_use(tmp_path, prepare):
    """Neither pandas, which Arrow loads when it converts objects, nor SciPy, nor what plans many counts."""
    file = tmp_path / "people.csv"
    file.write_text(
        "person,city,income\n" + "".join(f"{row // 2},{'ab'[row % 2]},{row}\n" for row in range(60))
    )
    ledger = os.fspath(tmp_path / "ledger")
    loaded = loaded_by(ASK.format(file=os.fspath(file), ledger=ledger, prepare=prepare))
    assert {"duckdb", "ibis", "pyarrow", "discreet.accounting.renyi.curve"} <= loaded
    libraries = {"pandas", "polars", "scipy", "matplotlib", "psycopg", "pyspark", "pyarrow.parquet"}
    own = ("audit", "learning", "mechanisms.admissible.student", "workloads.planning.planner")
    assert not (libraries | {f"discreet.{name}" for name in own}) & loaded


def test_a_package_loads_only_what_is_named():
    loaded = loaded_by("import discreet; discreet.accounting.filters.PureFilter; discreet.workloads.Prefixes")
    assert not {"scipy", "discreet.accounting.loss", "discreet.workloads.planning.planner"} & loaded
