"""Each lemma names the code that relies on it, and the tests that catch its violation: all of them exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"
PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))


def defined_in(path: Path) -> set[str]:
    """Every name that a file gives to a function, a class, an attribute or a constant, at any depth."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


@cache
def code() -> dict[tuple[str, ...], set[str]]:
    return {path.relative_to(SOURCE).with_suffix("").parts: defined_in(path) for path in SOURCE.rglob("*.py")}


@cache
def modules() -> set[str]:
    return {part for parts in code() for part in parts}


@cache
def names() -> set[str]:
    return set().union(*code().values()) | modules()


@cache
def names_of_tests() -> set[str]:
    return {name for path in (ROOT / "tests").rglob("*.py") for name in [*defined_in(path), path.name]}


def lemmas(page: Path) -> list[str]:
    """The backticked names of every "Relied on by …", the tests that follow it included."""
    paragraphs = re.findall(r"Relied on by (.*?)(?=\n\n|\n- |\n#|\Z)", page.read_text(), flags=re.DOTALL)
    return [name for text in paragraphs for name in re.findall(r"`([^`\n]+)`", text)]


def exists(name: str) -> bool:
    """Tell whether there is a file, a test, or code of that name: a module or a class, and what it holds."""
    path, _, test = name.partition("::")
    if test or path.startswith("test_"):
        return re.sub(r"\[.*", "", test or path) in names_of_tests()
    if "/" in name:
        return any((place / name).exists() for place in (ROOT, SOURCE))
    first, *others = [part for part in re.sub(r"\(.*", "", name).split(".") if part not in ("", "discreet")]
    if first == "np" or name in names_of_tests():
        return True
    if first in modules() and others:
        held = set().union(*({*found, *parts} for parts, found in code().items() if first in parts))
        return others[0] in held and set(others) <= names()
    return {first, *others} <= names()


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_lemmas_name_what_exists(page):
    assert [name for name in lemmas(page) if not exists(name)] == []


def test_lemmas_are_found_and_wrong_names_are_told():
    assert sum(len(lemmas(page)) for page in PROOFS) > 1000
    assert exists("Laplace.release")
    assert exists("noise/entropy.py")
    assert exists("::test_lemmas_name_what_exists[laplace]")
    assert exists("laplace.Laplace.release")
    assert not exists("Laplace.erase")
    assert not exists("grid.Laplace")
    assert not exists("noise/entropie.py")
    assert not exists("test_that_nobody_wrote")
