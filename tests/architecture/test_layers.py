"""Packages import only those below them, libraries stay in their files, and file names mean something."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"
FILES = sorted(SOURCE.rglob("*.py"))

# From the bottom up. Packages on one line may not import each other.
LEVELS = [
    {"array_types", "exports", "version"},
    {"errors", "records", "visible"},
    {"figures", "noise", "privacy"},
    {"stability"},
    {"mechanisms", "accounting"},
    {"workloads"},
    {"data"},
    {"curator"},
    {"queries", "learning"},
    {"synthesis"},
    {"front", "audit"},
    {"server"},
    {"cli"},
    {"__main__"},
]
HEIGHT = {package: height for height, packages in enumerate(LEVELS) for package in packages}

# Third-party libraries and the only files that may import them.
WALLS = {
    "cryptography": ["noise/entropy.py"],
    "secrets": [],
    "random": [
        "learning/deep/randomness/library_generators.py"
    ],  # lends its generator a state, and draws nothing
    "scipy": ["stability/", "workloads/", "mechanisms/", "accounting/", "audit/"],
    "matplotlib": ["figures/"],
    "ibis": ["data/"],
    "duckdb": ["data/engines/duckdb.py", "data/engines/duckdb_meanings.py"],
    "pyarrow": ["data/", "curator/release/release.py", "curator/permit.py", "cli/", "synthesis/"],
    "sqlglot": [
        "queries/",
        "data/engines/corrections.py",
        "data/engines/dialects.py",
        "data/engines/duckdb_dialect.py",
        "data/engines/postgres_dialect.py",
        "data/engines/spark_dialect.py",
    ],  # dialects correct what Ibis's compilers, which build it, write
    "sqlite3": ["curator/ledger/"],
    "psycopg": ["curator/ledger/", "data/engines/postgres.py"],
    "torch": ["learning/deep/", "synthesis/generators/"],
    "triton": ["learning/deep/accelerator/"],
    "sklearn": ["learning/estimators/"],
    "mpmath": [],
    "pandas": ["data/", "curator/release/release.py", "synthesis/"],
    "polars": ["data/", "curator/release/release.py"],
    "importlib": [
        "data/engines/one_compiler.py",
        "data/libraries.py",
        "exports.py",
        "server/checkup.py",
    ],
    "fastapi": ["server/"],
    "starlette": ["server/"],
    "pydantic": ["server/bodies.py", "server/replies.py"],
    "uvicorn": ["server/serving.py", "server/connections.py"],
    "httpx": ["server/client.py"],
}


def package_of(path: Path) -> str:
    part = path.relative_to(SOURCE).parts[0]
    return part.removesuffix(".py")


def imports(path: Path) -> list[str]:
    """Every module a file imports, inside functions too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append(node.module or "")
    return found


def test_every_package_has_its_level():
    packages = {package_of(path) for path in FILES} - {"__init__"}
    assert packages == set(HEIGHT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_only(path):
    package = package_of(path)
    if package == "__init__":
        return
    for module in imports(path):
        if module == "discreet":
            pytest.fail(f"{path.name} imports the root package")
        if module.startswith("discreet."):
            other = module.split(".")[1]
            assert other == package or HEIGHT[other] < HEIGHT[package], f"{package} may not import {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_third_party_walls(path):
    place = path.relative_to(SOURCE).as_posix()
    for module in imports(path):
        library = module.split(".")[0]
        if library in WALLS:
            assert any(place == home or place.startswith(home) for home in WALLS[library] if home), (
                f"{place} may not import {library}"
            )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_short_and_named_for_an_idea(path):
    assert len(path.read_text().splitlines()) <= 400
    assert not re.search(r"(^|/)(utils?|common|helpers?|misc)(/|\.py$)|_v\d+\.py$", path.as_posix())


def test_randomness_enters_in_one_place():
    readers = [
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        if re.search(r"os\.urandom|np\.random|numpy\.random|getrandom", path.read_text())
    ]
    # These make up rows, which nobody needs to keep secret: the demo's, and those of a sandbox.
    invented = {"cli/clinic.py", "data/tables/fake_rows.py", "front/sandbox.py"}
    # And these draw rows from a model of released values, where any randomness will do.
    released = {
        "synthesis/columns/coded_column.py",
        "synthesis/columns/domain.py",
        "synthesis/generators/generated_model.py",
        "synthesis/models/folding.py",
        "synthesis/models/row_model.py",
        "synthesis/models/tree_model.py",
        "synthesis/related/event_model.py",
        "synthesis/related/related_data.py",
        "synthesis/release/synthetic_data.py",
    }
    # This seeds what teachers of other libraries draw, so that none of it passes from one to the next.
    # And this lends the generators of other libraries a secret state.
    seeded = {"learning/teachers/ensemble.py", "learning/deep/randomness/library_generators.py"}
    assert [path for path in readers if path not in invented | released | seeded] == ["noise/entropy.py"]
