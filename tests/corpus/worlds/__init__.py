"""The worlds, each made when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tests.corpus.world import World


@cache
def world(name: str) -> World:
    """Return the world of a name."""
    return import_module(f"tests.corpus.worlds.{name}").world()
