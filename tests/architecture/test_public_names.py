"""Every name that the documentation mentions can be typed after ``import discreet as dp``."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import discreet
from randomness import some_seed

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md")])
PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py") if "__all__" in path.read_text())

# What may stand before the first dot of a name: packages, and the modules that the front door shows.
FIRST = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()} | {
    "errors",
    "events",
    "guarantees",
    "neighbors",
    "sensitivity",
}
FILE = re.compile(r"/|\.(py|md|toml|json|csv|parquet|sql|txt)$")
SPELLED = re.compile(r"(?<![\w./-])(?:dp|discreet)((?:\.[A-Za-z]\w*)+)(?![\w/])")
QUOTED = re.compile(r"`([^`\n]+)`")
DOTTED = re.compile(r"([A-Za-z]\w*(?:\.[A-Za-z]\w*)+)(?:\(.*\))?")

RESOLVE = """
import importlib, json, sys
import discreet as dp

def reached(name, may_import):
    found = dp
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            if not may_import or not hasattr(found, "__path__"):
                raise
            found = importlib.import_module(f"{found.__name__}.{part}")
    return found

missing = []
for candidates, may_import in json.load(sys.stdin):
    for name in candidates:
        try:
            reached(name, may_import)
            break
        except (AttributeError, ImportError):
            continue
    else:
        missing.append(candidates[0])
print(json.dumps(missing))
"""


def unresolved(names: list[tuple[list[str], bool]]) -> list[str]:
    """Names of which no reading can be reached in a fresh interpreter, from ``import discreet as dp`` alone.

    A flag says whether modules that no public package shows may be imported on the way.
    """
    script = [sys.executable, "-c", RESOLVE]
    output = subprocess.run(
        script, input=json.dumps(names), capture_output=True, text=True, check=True
    ).stdout
    return list(json.loads(output))


def mentioned(text: str) -> Iterator[str]:
    """The names of a page: ``dp.…`` and ``discreet.…`` anywhere, and `package.…` between backticks."""
    for found in SPELLED.finditer(text):
        if not FILE.search(found[0]):
            yield found[1].removeprefix(".")
    for quoted in QUOTED.findall(text):
        found = DOTTED.fullmatch(quoted)
        if found and found[1].split(".")[0] in FIRST and not FILE.search(found[1]):
            yield found[1]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "`dp.Table(x)` and dp.stability.median(rows), discreet.errors.X",
            ["Table", "stability.median", "errors.X"],
        ),
        (
            "`workloads.inference`, `audit.check_mechanism(m)`",
            ["workloads.inference", "audit.check_mechanism"],
        ),
        ("`data.parquet`, `noise/entropy.py`, `discreet.toml`, `visits.cost`, data.Plan", []),
    ],
)
def test_names_are_told_from_files_and_columns(text, names):
    assert list(mentioned(text)) == names


def test_names_of_the_pages_are_reached():
    found = {page: sorted(set(mentioned(page.read_text()))) for page in PAGES}
    assert sum(map(len, found.values())) > 80
    missing = set(unresolved([([name], False) for names in found.values() for name in names]))
    assert [(page.name, name) for page, names in found.items() for name in names if name in missing] == []


# Classes in pages that are not public: records that others hand out, and names of other projects.
OTHERS = {
    "BatchMemoryManager",  # Opacus
    "DPLSTM",
    "DPMultiheadAttention",
    "DataLoader",  # PyTorch
    "GradSampleModule",  # Opacus
    "GradScaler",  # PyTorch
    "PrivacyEngine",  # Opacus
    "HttpOnly",
    "Secure",  # what cookies say
    "MetricSpace",
    "Rung",
    "VerificationReport",  # held by what is public
}
CLASS = re.compile(r"([A-Z][A-Za-z]*[a-z][A-Za-z]*)(?:\.(\w+))?(?:\(.*\))?")


@cache
def public_values() -> dict[str, list[object]]:
    """All that goes by each public name."""
    found: dict[str, list[object]] = {}
    for module in public_modules().values():
        for name in module.__all__:
            found.setdefault(name, []).append(getattr(module, name))
    return found


def unknown_classes(text: str) -> list[str]:
    """The classes and their attributes, between backticks without a package, that are not public."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = [match for quoted in QUOTED.findall(prose) if (match := CLASS.fullmatch(quoted))]
    return [
        match[0]
        for match in found
        if match[1] not in OTHERS
        and not any(not match[2] or hasattr(one, match[2]) for one in public_values().get(match[1], []))
    ]


@pytest.mark.slow
def test_classes_of_the_pages_are_public():
    assert unknown_classes("`Curator.ask`, `Curator.ask(x)`, `DataLoader`, `Laplace(sensitivity=1)`") == []
    assert unknown_classes("`Curator.sak` and `Laplas`") == ["Curator.sak", "Laplas"]
    pages = [page for page in PAGES if page.name not in ("ARCHITECTURE.md", "CONTRIBUTING.md")]
    assert [(page.name, name) for page in pages for name in unknown_classes(page.read_text())] == []


def code_of(page: Path) -> list[list[str]]:
    """What a proof page says that it proves: for each name its readings, the likeliest first.

    A bare name belongs to the name before it, or to what holds that: `discreet.a.B`, `C` is `discreet.a.C`.
    """
    found = re.search(r"^Code: (.*?)\n\n", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    readings, before = [], []
    for quoted in QUOTED.findall(found[1].replace("\n", " ")) if found else []:
        if FILE.search(quoted):
            assert (ROOT / quoted).exists() or (SOURCE / quoted).exists(), f"{page.name}: no file {quoted}"
            continue
        if quoted.startswith("discreet."):
            before = quoted.split(".")[1:]
            readings.append([".".join(before)])
        else:
            holders = [".".join(before[:length]) for length in range(len(before), 0, -1)]
            readings.append([f"{holder}.{quoted}" for holder in holders] or [quoted])
    return readings


def test_code_of_the_proofs_is_reached():
    found = {page.name: code_of(page) for page in PROOFS}
    assert sum(map(len, found.values())) > 80
    missing = set(unresolved([(readings, True) for names in found.values() for readings in names]))
    assert [
        (page, names[0]) for page, all_names in found.items() for names in all_names if names[0] in missing
    ] == []


def public_modules() -> dict[str, ModuleType]:
    """The modules that a user reaches by public names alone, by the shortest name of each.

    To these belong the packages whose records the front door hands out: `dp.curator.Release` and the like.
    """
    beneath = ["curator", "data", "front", "queries"]
    shown = {"dp": discreet, **{f"dp.{name}": getattr(discreet, name) for name in beneath}}
    waiting = list(shown)
    while waiting:
        path = waiting.pop(0)
        for name in shown[path].__all__:
            value = getattr(shown[path], name)
            if isinstance(value, ModuleType) and value not in shown.values():
                shown[f"{path}.{name}"] = value
                waiting.append(f"{path}.{name}")
    return shown


def test_dir_shows_public_names_only():
    for name, module in public_modules().items():
        assert set(dir(module)) - {"__version__"} == set(module.__all__), name
        assert all(hasattr(module, public) for public in module.__all__), name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE.parent)))
def test_every_package_publishes(package):
    last = ast.parse((package / "__init__.py").read_text()).body[-1]
    assert ast.unparse(last).startswith("publish(__name__")


REBOUND = """
import importlib, json, random, sys
modules, packages, seed = json.load(sys.stdin)
random.Random(seed).shuffle(modules)
for module in modules:
    importlib.import_module(module)
wrong = []
for package, names in packages.items():
    for name, (home, original) in names.items():
        shown = getattr(sys.modules[package], name)
        held = sys.modules[home]
        inner = sys.modules.get(f"{home}.{original}")
        expected = vars(held).get(original, inner) if home != package else inner
        if shown is not expected:
            wrong.append(f"{package}.{name}: {shown!r}")
print(json.dumps(wrong))
"""


def sources_of(package: Path) -> dict[str, tuple[str, str]]:
    """Where each public name of a package comes from, as its text says: the module and the name in it."""
    tree = ast.parse((package / "__init__.py").read_text())
    public = {
        constant.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for constant in ast.walk(node.value)
        if isinstance(constant, ast.Constant)
    }
    imported = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert public <= imported.keys(), f"{package}: {public - imported.keys()}"
    return {name: imported[name] for name in sorted(public)}


@pytest.mark.few(1, slow=0)
@pytest.mark.parametrize("seed", [None, *range(5)])
def test_loading_modules_rebinds_no_public_name(seed):
    """`stability.variance` is a function and a module; the public name is the function, always."""
    seed = some_seed() if seed is None else seed
    paths = [path.relative_to(SOURCE.parent).with_suffix("") for path in SOURCE.rglob("*.py")]
    modules = sorted(
        ".".join(path.parts).removesuffix(".__init__") for path in paths if path.name != "__main__"
    )
    packages = {".".join(path.relative_to(SOURCE.parent).parts): sources_of(path) for path in PACKAGES}
    given = json.dumps([modules, packages, seed])
    script = [sys.executable, "-c", REBOUND]
    output = subprocess.run(script, input=given, capture_output=True, text=True, check=True).stdout
    assert json.loads(output) == [], f"in the order of seed {seed}"


def documented() -> dict[str, list[str]]:
    """The names that the reference lists under each heading that names a module."""
    listed = {}
    for section in (ROOT / "docs" / "reference.md").read_text().split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        named = re.search(r"`(dp(?:\.\w+)*)`", heading)
        if named:
            listed[named[1]] = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)
    return listed


def test_the_reference_lists_every_public_name_and_no_other():
    listed = {name: sorted(names) for name, names in documented().items()}
    assert listed == {name: sorted(module.__all__) for name, module in public_modules().items()}
