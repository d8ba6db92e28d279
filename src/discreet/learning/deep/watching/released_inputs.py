"""A graph whose backward pass does not hold what convolutions were given.

What is kept of it for the gradients of examples is half as long: numbers of 16 bits. The backward pass to a
convolution's input only reads slopes and weights, though its operation is also given the input, for its
shape. A rectifier reads its result, for signs, which shorter numbers have as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

import torch

from discreet.learning.deep.watching.shared_statistics import origin_of

__all__ = ["release_inputs"]

_aten = torch.ops.aten


def release_inputs(graph: torch.fx.GraphModule) -> None:
    """Let the backward passes of a graph without writes (`written_graphs`) read what is kept, where they can.

    Numbers are the same, but for rectified ones below 2^-126, whose slopes may become 0.
    """
    for node in graph.graph.find_nodes(op="call_function", target=_aten.convolution_backward.default):
        _transpose(node)
    short = dict[Any, torch.fx.Node]()
    for node in graph.graph.find_nodes(op="call_function", target=_aten._to_copy.default):
        origin = origin_of(node.args[0])
        is_there = node.meta["val"].device == origin.meta["val"].device
        if is_there and node.kwargs.get("dtype") == torch.bfloat16:
            short.setdefault(origin, node)
    for node in graph.graph.find_nodes(op="call_function", target=_aten.threshold_backward.default):
        values, limit = node.args[1:]
        if (origin := origin_of(values)) in short and limit == 0:
            short[origin] = _moved_to(origin, short[origin])
            _mask_by(short[origin], node)
    graph.recompile()


def _transpose(node: torch.fx.Node) -> None:
    """Put the slopes of a convolution's input as a transposed convolution of those of its output."""
    slopes, given, weight, _, *sizes, is_transposed, _, groups, wanted = node.args
    if is_transposed or list(wanted) != [True, False, False]:
        return
    kernel = weight.meta["val"].shape[2:]
    stride, padding, spread = (_for_each(axes, len(kernel)) for axes in sizes)
    reached = [
        (many - 1) * step - 2 * rim + apart * (wide - 1) + 1
        for many, step, rim, apart, wide in zip(
            slopes.meta["val"].shape[2:], stride, padding, spread, kernel, strict=True
        )
    ]
    beyond = [size - least for size, least in zip(given.meta["val"].shape[2:], reached, strict=True)]
    with node.graph.inserting_before(node):
        found = node.graph.call_function(
            _aten.convolution.default, (slopes, weight, None, stride, padding, spread, True, beyond, groups)
        )
    for read in list(node.users):
        if read.target is getitem and read.args[1] == 0:
            found.meta = dict(read.meta)
            read.replace_all_uses_with(found)
        node.graph.erase_node(read)
    node.graph.erase_node(node)


def _for_each(sizes: Sequence[int], axes: int) -> list[int]:
    return list(sizes) * axes if len(sizes) == 1 else list(sizes)


def _moved_to(origin: torch.fx.Node, copy: torch.fx.Node) -> torch.fx.Node:
    """Make a shorter copy as soon as there is what it is a copy of."""
    with origin.graph.inserting_after(origin):
        moved = origin.graph.call_function(_aten._to_copy.default, (origin,), dict(copy.kwargs))
    moved.meta = dict(copy.meta)
    copy.replace_all_uses_with(moved)
    origin.graph.erase_node(copy)
    return moved


def _mask_by(values: torch.fx.Node, node: torch.fx.Node) -> None:
    """Put the slopes of a rectifier in terms of other numbers with the signs of its result."""
    call: Callable[..., Any] = node.graph.call_function
    with node.graph.inserting_before(node):
        mask = call(_aten.le.Scalar, (values, 0))
        found = call(_aten.masked_fill.Scalar, (node.args[0], mask, 0))
    found.meta = dict(node.meta)
    node.replace_all_uses_with(found)
    node.graph.erase_node(node)
