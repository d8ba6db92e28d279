"""Which names the reference describes: those that a user reaches after ``import discreet as dp``."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import discreet

__all__ = ["described", "page_of", "public_modules"]

ROOT = Path(__file__).parents[1]
BENEATH = ("curator", "data", "front", "queries")
"""Packages whose records the front door hands out, though it does not list them."""


def public_modules() -> dict[str, ModuleType]:
    """Return the public modules by their shortest names, nearest to the front door first."""
    shown = {"dp": discreet, **{f"dp.{name}": getattr(discreet, name) for name in BENEATH}}
    waiting = list(shown)
    while waiting:
        path = waiting.pop(0)
        for name in shown[path].__all__:
            value = getattr(shown[path], name)
            if isinstance(value, ModuleType) and value not in shown.values():
                shown[f"{path}.{name}"] = value
                waiting.append(f"{path}.{name}")
    return shown


def page_of(module: str) -> str:
    """Return the page of a public module, within the reference: ``dp.noise`` is on ``noise.md``."""
    return f"{module.removeprefix('dp.').replace('.', '_') if module != 'dp' else 'top_level'}.md"


def described() -> dict[tuple[str, str], str]:
    """Return what the table in docs/reference.md says about each public name."""
    said = {}
    for section in (ROOT / "docs" / "reference.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        module = re.search(r"`(dp(?:\.\w+)*)`", heading)
        for name, words in re.findall(r"^\| `(\w+)` \| (.*?) \|", text, flags=re.MULTILINE):
            if module:
                said[module[1], name] = words
    return said
