"""A graph in which means and deviations that layers have computed are not computed again.

The forward pass of a normalizing layer finds the mean and the deviation of what it is given. The gradients of
its gains need both, and a trace has them computed a second time, of the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import Any

import torch

__all__ = ["origin_of", "share_statistics"]

_aten = torch.ops.aten
_LAYER, _GROUP = _aten.native_layer_norm.default, _aten.native_group_norm.default
_SIZES = {_LAYER: (1, 4), _GROUP: (3, 4, 5, 6, 7)}
"""Where in the arguments the sizes are, and what is added to the variance."""


def share_statistics(graph: torch.fx.GraphModule) -> None:
    """Let a tensor that is normalized, and was before, be so by the mean and deviation of then.

    Nothing may have written to the tensor in between (`written_graphs`).
    """
    for target, sizes in _SIZES.items():
        first = dict[Any, torch.fx.Node]()
        for node in graph.graph.find_nodes(op="call_function", target=target):
            key = (origin_of(node.args[0]), *(str(node.args[place]) for place in sizes))
            known = first.setdefault(key, node)
            has_gains = any(isinstance(value, torch.fx.Node) for value in node.args[1:])
            if known is not node and not has_gains:
                _normalize_by(known, node)
    graph.recompile()


def origin_of(value: Any) -> Any:
    """Return the node whose numbers these are, of a graph without writes."""
    while value.op == "call_function" and value.target is _aten.detach.default:
        value = value.args[0]
    return value


def _normalize_by(known: torch.fx.Node, node: torch.fx.Node) -> None:
    """Put what a normalization without gains returns in terms of the mean and deviation of another."""
    graph = node.graph
    with graph.inserting_before(node):
        call: Callable[..., Any] = graph.call_function
        found: dict[int, Any] = {place: call(getitem, (known, place)) for place in (1, 2)}
        values, mean, scale = node.args[0], found[1], found[2]
        if node.target is _GROUP:
            many, channels, positions, groups = node.args[3:7]
            sizes = [many, groups, channels // groups, positions]
            values = call(_aten.reshape.default, (values, sizes))
            mean, scale = (call(_aten.reshape.default, (one, [many, groups, 1, 1])) for one in (mean, scale))
        normal = call(_aten.mul.Tensor, (call(_aten.sub.Tensor, (values, mean)), scale))
        if node.target is _GROUP:
            shape = list(node.args[0].meta["val"].shape)
            normal = call(_aten.reshape.default, (normal, shape))
        found[0] = normal
    for read in list(node.users):
        found[read.args[1]].meta = dict(read.meta)
        read.replace_all_uses_with(found[read.args[1]])
        graph.erase_node(read)
    graph.erase_node(node)
