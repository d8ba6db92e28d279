"""Hooks that belong to one model: copies of it, and files that it is saved to, have none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["ModelHook"]


class ModelHook:
    """What a module calls, until it is copied or saved: its copies call something that does nothing.

    Parameters
    ----------
    act : callable
    """

    def __init__(self, act: Callable[..., Any]) -> None:
        self._act = act

    def __call__(self, *given: Any) -> Any:
        """Act, as the module asks for it."""
        return self._act(*given)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return ModelHook, (_do_nothing,)


def _do_nothing(*given: Any) -> None:
    """Leave a module's call as it is."""
