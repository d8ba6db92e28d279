"""Gradients of a module that has no rule: example by example, with that module alone run again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap
from torch.utils._pytree import tree_flatten, tree_unflatten

from discreet.learning.deep.uses import RowsUse, Use
from discreet.learning.deep.watching.first_axis import refused_mixing
from discreet.learning.deep.watching.layer_calls import NotedCall
from discreet.learning.deep.watching.not_by_example import refused_module

__all__ = ["refuse_mixing_inside", "tensors_of", "uses_of_whole"]

_CLOSE = (
    2.0**-5
)  # of the length of what is returned: under autocast it was rounded, and is not when run again


def tensors_of(values: Any) -> list[Tensor]:
    """Return the tensors of floating-point numbers in what a module was given or returned, in order."""
    leaves = [values] if isinstance(values, Tensor) else tree_flatten(values)[0]
    return [value for value in leaves if isinstance(value, Tensor) and value.is_floating_point()]


def uses_of_whole(
    module: nn.Module,
    trained: dict[str, Tensor],
    given: tuple[Any, Any],
    slopes: list[Tensor | None],
    *,
    whole: Callable[[Tensor], Tensor] = Tensor.detach,
    name: str = "",
) -> dict[str, Use]:
    """Return the gradients of all trained parameters of a module, by running it once for each example.

    Parameters
    ----------
    module : nn.Module
    trained : dict
        Its trained parameters by name, those of its parts too.
    given : pair
        The arguments of its call, by position and by name. Tensors whose first axis is as long as the batch
        are split into examples.
    slopes : list
        The gradient of each tensor that it returned; None where there is none.
    whole : callable, optional
        Returns all numbers of a parameter, of which this process may have a part, apart from its graph.
    name : str, optional
        Where the module is in the model.
    """
    batch = next(len(slope) for slope in slopes if slope is not None)
    wanted = [place for place, slope in enumerate(slopes) if slope is not None]
    batched, run = _by_example(module, given, batch, whole)
    held = {name: whole(value) for name, value in trained.items()}

    def gradient(rows: list[Tensor], row_slopes: list[Tensor]) -> dict[str, Tensor]:
        def forward(parameters: dict[str, Tensor]) -> list[Tensor]:
            returned = run(rows, parameters)
            return [returned[place] for place in wanted]

        _, pull = vjp(forward, held)
        return pull([slope[None] for slope in row_slopes])[0]

    with _refusing(module, name, set(trained)):
        each = vmap(gradient)(batched, [slope for slope in slopes if slope is not None])
    return {name: RowsUse(value.reshape(len(value), -1)) for name, value in each.items()}


@torch.no_grad()
def refuse_mixing_inside(
    calls: list[NotedCall], batch: int, whole: Callable[[Tensor], Tensor] = Tensor.detach
) -> None:
    """Refuse modules without a rule that return something else for an example alone than in its batch.

    Slopes of what they return cannot tell. So each is run again, with all examples and with each by itself.
    """
    for call in (call for call in calls if call.watched.rule is None):
        watched, (args, kwargs) = call.watched, call.given
        batched, run = _by_example(watched.module, call.given, batch, whole)
        with _refusing(watched.module, watched.name, set(watched.trained)):
            alone = vmap(
                lambda rows, run=run: [value[0] if value.dim() else value for value in run(rows, {})]
            )(batched)
            held = _held(watched.module, whole)
            together = tensors_of(functional_call(watched.module, held, args, kwargs))
        pairs = zip(alone, together, strict=True)
        if not all(_are_close(one, other) for one, other in pairs if other.shape[:1] == (batch,)):
            raise refused_mixing(watched)


def _by_example(
    module: nn.Module, given: tuple[Any, Any], batch: int, whole: Callable[[Tensor], Tensor]
) -> tuple[list[Tensor], Callable[[list[Tensor], dict[str, Tensor]], list[Tensor]]]:
    """Return what is split into examples, and what runs the module with one of them and some parameters."""
    held = _held(module, whole)
    leaves, shape = tree_flatten(given)
    split = [isinstance(leaf, Tensor) and leaf.dim() > 0 and len(leaf) == batch for leaf in leaves]

    def run(rows: list[Tensor], parameters: dict[str, Tensor]) -> list[Tensor]:
        rest = iter(rows)
        own = [next(rest)[None] if is_split else leaf for leaf, is_split in zip(leaves, split, strict=True)]
        args, kwargs = tree_unflatten(own, shape)
        return tensors_of(functional_call(module, {**held, **parameters}, args, kwargs))

    return [leaf for leaf, is_split in zip(leaves, split, strict=True) if is_split], run


def _held(module: nn.Module, whole: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
    """Return all numbers of a module's parameters and buffers by name."""
    return {name: whole(value) for name, value in (*module.named_parameters(), *module.named_buffers())}


@contextmanager
def _refusing(module: nn.Module, name: str, trained: set[str]) -> Iterator[None]:
    """Refuse a module that cannot be run for each example."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            yield
    except (RuntimeError, ValueError) as error:  # ValueError: nothing is split into examples
        raise refused_module(module, name, trained) from error


def _are_close(one: Tensor, other: Tensor) -> bool:
    """Whether all examples are about the same, where numbers are finite."""
    first, second = one.reshape(len(one), -1).double(), other.reshape(len(other), -1).double()
    both = first.isfinite() & second.isfinite()
    difference = torch.where(both, first - second, 0.0).norm(dim=1)
    length = torch.where(both, second, 0.0).norm(dim=1)
    return not bool((difference > _CLOSE * length).any() or (first.isnan() != second.isnan()).any())
