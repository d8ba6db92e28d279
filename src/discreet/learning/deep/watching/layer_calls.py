"""What is noted of a layer's call, and what is kept of it: the layer, what it was given, its slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge
from torch.utils._pytree import tree_leaves, tree_map

from discreet.errors import ParameterError
from discreet.learning.deep.layers import GradientRule
from discreet.learning.deep.uses import Use
from discreet.learning.deep.watching.loose_parameters import loose_parameters

__all__ = [
    "Keep",
    "Kept",
    "LayerCall",
    "NotedCall",
    "WatchedLayer",
    "keep_all",
    "noted_call",
    "seen_alone",
]

Kept = TypeVar("Kept")

Keep = Callable[[dict[str, Use]], dict[str, Kept]]
"""Returns what is kept of the uses of a call, by name."""


def keep_all(uses: dict[str, Any]) -> dict[str, Any]:
    """Return the uses of a call as they are."""
    return uses


@dataclass(frozen=True, eq=False)
class WatchedLayer:
    """A module whose calls are recorded, with those of its parameters that are trained.

    If a module is run again as a whole, and `is_divisible`, layers inside are recorded, too.
    """

    name: str
    module: nn.Module
    rule: GradientRule | None
    trained: dict[str, Tensor]
    is_divisible: bool = False

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return f"{type(self.module).__name__} ({self.name or 'the model'})"


@dataclass(frozen=True, eq=False)
class NotedCall:
    """One call: the arguments, how often each had been written to, and where gradients arrive.

    `edges` are those of what it returned, `before` those of what it was given, and `loose`, of a module that
    is divisible, those of the parameters that it holds beside layers.
    """

    watched: WatchedLayer
    given: tuple[Any, Any]
    versions: list[tuple[Tensor, int]]
    edges: list[Any]
    before: list[Any]
    loose: dict[str, Any] = field(default_factory=dict)

    def check_unchanged(self) -> None:
        """Refuse a call whose arguments were written over since."""
        if any(value._version != version for value, version in self.versions):
            raise ParameterError(
                "model",
                f"writes over the input of its {self.watched.title} after the call",
                "operations that are not in place: x = x + y instead of x += y",
            )


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of a layer: what it was given, and the gradient of each tensor that it returned, or None."""

    watched: WatchedLayer
    given: tuple[Any, Any]
    slopes: list[Tensor | None]


def noted_call(watched: WatchedLayer, args: Any, kwargs: Any, outputs: list[Tensor]) -> NotedCall:
    """Note a call that is over, with the tensors that it returned."""
    given = _detached(args, kwargs)
    read = _all_tensors(given, args, kwargs)
    passed = _all_tensors((args, kwargs), args, kwargs)
    return NotedCall(
        watched,
        given,
        versions=[(value, value._version) for value in read],
        edges=[get_gradient_edge(value) if value.requires_grad else None for value in outputs],
        before=[get_gradient_edge(value) for value in passed if value.requires_grad],
        loose={
            name: get_gradient_edge(value)
            for name, value in (loose_parameters(watched.module) if watched.is_divisible else ())
            if name in watched.trained
        },
    )


def seen_alone(value: Any) -> Any:
    """Return a tensor as a view of itself, whose gradient is that of what reads the view."""
    is_one = isinstance(value, Tensor) and value.is_floating_point() and value.requires_grad
    return value.view_as(value) if is_one else value


def _all_tensors(values: tuple[Any, Any], args: Any, kwargs: Any) -> list[Tensor]:
    """Return all tensors that a layer was given; mostly it is one."""
    leaves = values[0] if not kwargs and all(isinstance(one, Tensor) for one in args) else tree_leaves(values)
    return [value for value in leaves if isinstance(value, Tensor)]


def _detached(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return what a layer was given, apart from how it was made; mostly it is one tensor."""
    if not kwargs and all(isinstance(value, Tensor) for value in args):
        return tuple(value.detach() for value in args), kwargs
    return tree_map(lambda value: value.detach() if isinstance(value, Tensor) else value, (args, kwargs))
