"""What an installation of the package brings: its requirements, and all that they require in turn.

Requirements are read from pyproject.toml, what they require from the metadata of what is installed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["RELEASED", "Brought", "brought_by", "requirements_of"]

ROOT = Path(__file__).parents[1]
RELEASED = ("tables", "plot", "postgres", "spark", "polars", "learn", "learn-torch", "serve")
"""The extras that are for users; the others are for whoever works on the package."""

Brought = dict[str, tuple[Distribution, set[str]]]
"""For each library by its canonical name: what is installed, and which libraries it requires."""


def requirements_of(*extras: str) -> list[Requirement]:
    """Return what the package requires, with some extras; extras that name others are resolved.

    Parameters
    ----------
    *extras : str
        Names of extras; none for the core alone.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, Requirement] = {}
    waiting = [*map(Requirement, project["dependencies"])]
    for extra in extras:
        waiting += map(Requirement, project["optional-dependencies"][extra])
    while waiting:
        one = waiting.pop()
        if one.name == project["name"]:
            for extra in one.extras:
                waiting += map(Requirement, project["optional-dependencies"][extra])
        else:
            found[str(one)] = one
    return sorted(found.values(), key=str)


def brought_by(requirements: Iterable[Requirement], *, path: list[str] | None = None) -> Brought:
    """Return all that requirements bring, from what is installed.

    Parameters
    ----------
    requirements : requirements
        To begin with.
    path : list of str, optional
        Folders of the installation; by default the present one.

    Raises
    ------
    LookupError
        If something is required and not installed.
    """
    installed = {
        canonicalize_name(one.name): one for one in distributions(**({"path": path} if path else {}))
    }
    waiting = [(canonicalize_name(one.name), frozenset(one.extras)) for one in requirements]
    found: Brought = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        if name not in installed:
            raise LookupError(f"{name} is required and not installed")
        _, needs = found.setdefault(name, (installed[name], set()))
        for text in installed[name].requires or []:
            one = Requirement(text)
            if _holds(one, extras):
                needs.add(canonicalize_name(one.name))
                waiting.append((canonicalize_name(one.name), frozenset(one.extras)))
    return dict(sorted(found.items()))


def _holds(one: Requirement, extras: frozenset[str]) -> bool:
    """Tell whether a requirement applies here, given the extras that were asked for."""
    return one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))
