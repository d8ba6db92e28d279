"""Gradients of a module that has no rule: example by example, with that module alone run again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap
from torch.utils._pytree import tree_flatten, tree_unflatten

from discreet.errors import ParameterError
from discreet.learning.deep.uses import RowsUse, Use
from discreet.learning.deep.watching.first_axis import refused_mixing
from discreet.learning.deep.watching.folded_axis import is_of_examples, unfolded
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
    batch: int,
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
        are split into examples; and those as long as what it returned, of which each example has several
        rows (`folded_axis`).
    slopes : list
        The gradient of each tensor that it returned; None where there is none.
    batch : int
        How many examples there are.
    whole : callable, optional
        Returns all numbers of a parameter, of which this process may have a part, apart from its graph.
    name : str, optional
        Where the module is in the model.
    """
    wanted = [place for place, slope in enumerate(slopes) if slope is not None]
    batched, run = _by_example(module, given, _lengths(slopes, batch), batch, whole)
    held = {name: whole(value) for name, value in trained.items()}

    def gradient(rows: list[Tensor], row_slopes: list[Tensor]) -> dict[str, Tensor]:
        def forward(parameters: dict[str, Tensor]) -> list[Tensor]:
            returned = run(rows, parameters)
            return [returned[place] for place in wanted]

        _, pull = vjp(forward, held)
        return pull(row_slopes)[0]

    with _refusing(module, name, set(trained)):
        each = vmap(gradient)(batched, [unfolded(slope, batch) for slope in slopes if slope is not None])
    return {name: RowsUse(value.reshape(len(value), -1)) for name, value in each.items()}


@torch.no_grad()
def refuse_mixing_inside(
    calls: list[NotedCall],
    divided: list[NotedCall],
    batch: int,
    whole: Callable[[Tensor], Tensor] = Tensor.detach,
) -> None:
    """Refuse modules without a rule that return something else for an example alone than in its batch.

    Slopes of what they return cannot tell. So each is run again, with all examples and with each by itself;
    and so are modules that were divided into layers, if that can be done.
    """
    for call in (call for call in calls if call.watched.rule is None):
        _refuse_mixing(call, _alone_and_together(call, batch, whole), batch)
    for call in divided:
        try:
            found = _alone_and_together(call, batch, whole)
        except ParameterError:  # it draws random numbers, or is otherwise not run example by example
            continue
        _refuse_mixing(call, found, batch)


def _alone_and_together(
    call: NotedCall, batch: int, whole: Callable[[Tensor], Tensor]
) -> Iterable[tuple[Tensor, Tensor]]:
    """Return what a module returns for each example by itself, and for all of them."""
    watched, (args, kwargs) = call.watched, call.given
    with _refusing(watched.module, watched.name, set(watched.trained)):
        held = _held(watched.module, whole)
        together = tensors_of(functional_call(watched.module, held, args, kwargs))
        batched, run = _by_example(watched.module, call.given, _lengths(together, batch), batch, whole)
        alone = vmap(lambda rows: run(rows, {}))(batched)
    return zip(alone, together, strict=True)


def _refuse_mixing(call: NotedCall, found: Iterable[tuple[Tensor, Tensor]], batch: int) -> None:
    for one, other in found:
        if is_of_examples(other, batch) and not _are_close(one, other, batch):
            raise refused_mixing(call.watched)


def _lengths(values: Sequence[Tensor | None], batch: int) -> set[int]:
    """Return how long the first axes of tensors of examples are."""
    return {batch, *(len(one) for one in values if one is not None and is_of_examples(one, batch))}


def _by_example(
    module: nn.Module,
    given: tuple[Any, Any],
    lengths: set[int],
    batch: int,
    whole: Callable[[Tensor], Tensor],
) -> tuple[list[Tensor], Callable[[list[Tensor], dict[str, Tensor]], list[Tensor]]]:
    """Return what is split into examples, and what runs the module with one of them and some parameters."""
    held = _held(module, whole)
    leaves, shape = tree_flatten(given)
    split = [isinstance(leaf, Tensor) and leaf.dim() > 0 and len(leaf) in lengths for leaf in leaves]

    def run(rows: list[Tensor], parameters: dict[str, Tensor]) -> list[Tensor]:
        rest = iter(rows)
        own = [next(rest) if is_split else leaf for leaf, is_split in zip(leaves, split, strict=True)]
        args, kwargs = tree_unflatten(own, shape)
        return tensors_of(functional_call(module, {**held, **parameters}, args, kwargs))

    rows = [unfolded(leaf, batch) for leaf, is_split in zip(leaves, split, strict=True) if is_split]
    return rows, run


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


def _are_close(one: Tensor, other: Tensor, batch: int) -> bool:
    """Whether all examples are about the same, where numbers are finite."""
    first, second = one.reshape(batch, -1).double(), other.reshape(batch, -1).double()
    if first.shape != second.shape:
        return False
    both = first.isfinite() & second.isfinite()
    difference = torch.where(both, first - second, 0.0).norm(dim=1)
    length = torch.where(both, second, 0.0).norm(dim=1)
    return not bool((difference > _CLOSE * length).any() or (first.isnan() != second.isnan()).any())
