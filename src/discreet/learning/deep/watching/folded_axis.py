"""Positions that were folded into the axis of the examples: windows of an image, words of a text, choices.

A tensor (examples, positions, …) becomes one of (examples · positions, …) by reshape: the rows of an example
are next to each other. That they are, and that no row belongs to another example, is tried out as everywhere
(`mixing_trials`): joined in another order, rows would have slopes of others.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from discreet.learning.deep.layers import adds_up_positions
from discreet.learning.deep.uses import OuterUse, RowsUse, TurnedRowsUse, Use
from discreet.learning.deep.watching.first_axis import refused_axis
from discreet.learning.deep.watching.layer_calls import WatchedLayer

__all__ = ["is_of_examples", "unfolded", "uses_by_rule"]


def is_of_examples(values: Tensor, examples: int) -> bool:
    """Whether the first axis has as many rows for each example, at least one."""
    return values.dim() > 0 and len(values) > 0 and len(values) % examples == 0


def unfolded(values: Tensor, examples: int) -> Tensor:
    """Return a tensor with an axis of examples, and then one of what was folded into it."""
    return values.reshape(examples, -1, *values.shape[1:])


def uses_by_rule(watched: WatchedLayer, given: Tensor, slopes: Tensor, examples: int) -> dict[str, Use]:
    """Return the uses of a layer's parameters by its rule, also where it has several rows of each example.

    Parameters
    ----------
    watched : WatchedLayer
        It has a rule.
    given, slopes : tensors
        What the layer was given, and the gradient of what it returned.
    examples : int
    """
    rule, module = watched.rule, watched.module
    assert rule is not None  # noqa: S101 - others are run again
    if len(given) != len(slopes) and len(given) != examples:
        raise refused_axis(watched, "input is not that of the examples")
    with _without_autocast(given.device.type):
        if len(given) == examples:
            return rule(module, given, slopes)
        if adds_up_positions(rule):
            return rule(module, unfolded(given, examples), unfolded(slopes, examples))
        found = {name: _joined(use, examples) for name, use in rule(module, given, slopes).items()}
    known = {name: use for name, use in found.items() if use is not None}
    if len(known) != len(found):
        raise refused_axis(watched, "first axis has positions, too, which no kernel is for")
    return known


def _joined(use: Use, examples: int) -> Use | None:
    """Return a use of rows as one of examples; None of kinds that only an accelerator has."""
    if isinstance(use, RowsUse):
        return RowsUse(unfolded(use.rows, examples).sum(1))
    if isinstance(use, TurnedRowsUse):
        return TurnedRowsUse(RowsUse(unfolded(use.turned.rows, examples).sum(1)), use.shape, use.order)
    if isinstance(use, OuterUse):
        return OuterUse(
            unfolded(use.left, examples).flatten(1, 2), unfolded(use.right, examples).flatten(1, 2)
        )
    return None


def _without_autocast(kind: str) -> AbstractContextManager[object]:
    """Let numbers be as long as they are: autocast is for the model alone."""
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()
