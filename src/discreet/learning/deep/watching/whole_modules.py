"""Gradients of a module that has no rule: example by example, with that module alone run again."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap
from torch.utils._pytree import tree_flatten, tree_unflatten

from discreet.learning.deep.uses import RowsUse, Use
from discreet.learning.deep.watching.not_by_example import refused_module

__all__ = ["tensors_of", "uses_of_whole"]


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
    fixed = {
        name: whole(value)
        for name, value in (*module.named_parameters(), *module.named_buffers())
        if name not in trained
    }
    held = {name: whole(value) for name, value in trained.items()}
    leaves, shape = tree_flatten(given)
    split = [isinstance(leaf, Tensor) and leaf.dim() > 0 and len(leaf) == batch for leaf in leaves]
    batched = [leaf for leaf, is_split in zip(leaves, split, strict=True) if is_split]
    wanted = [place for place, slope in enumerate(slopes) if slope is not None]

    def gradient(rows: list[Tensor], row_slopes: list[Tensor]) -> dict[str, Tensor]:
        rest = iter(rows)
        own = [next(rest)[None] if is_split else leaf for leaf, is_split in zip(leaves, split, strict=True)]
        args, kwargs = tree_unflatten(own, shape)

        def forward(parameters: dict[str, Tensor]) -> list[Tensor]:
            returned = tensors_of(functional_call(module, {**fixed, **parameters}, args, kwargs))
            return [returned[place] for place in wanted]

        _, pull = vjp(forward, held)
        return pull([slope[None] for slope in row_slopes])[0]

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            each = vmap(gradient)(batched, [slope for slope in slopes if slope is not None])
    except RuntimeError as error:
        raise refused_module(module, name, set(trained)) from error
    return {name: RowsUse(value.reshape(len(value), -1)) for name, value in each.items()}
