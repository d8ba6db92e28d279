"""A graph in which means and deviations that layers have computed are not computed again.

The forward pass of a normalizing layer finds the mean and the deviation of what it is given. The gradients of
its gains need both, and a trace has them computed a second time, of the same numbers.
"""

from __future__ import annotations

from operator import getitem
from typing import Any

import torch

__all__ = ["share_statistics"]

_aten = torch.ops.aten
_NORMALIZING = {_aten.native_layer_norm.default: (1, 4), _aten.native_group_norm.default: (3, 4, 5, 6, 7)}
"""Where in the arguments the sizes are, and what is added to the variance."""


def share_statistics(graph: torch.fx.GraphModule) -> None:
    """Let normalizations of the same tensor, with the same sizes, share the mean and deviation of the first.

    Nothing may have written to the tensor in between (`written_graphs`).
    """
    for target, sizes in _NORMALIZING.items():
        first = dict[Any, torch.fx.Node]()
        for node in graph.graph.find_nodes(op="call_function", target=target):
            key = (_origin(node.args[0]), *(str(node.args[place]) for place in sizes))
            _take_statistics(node, first.setdefault(key, node))
    graph.recompile()


def _origin(value: Any) -> Any:
    while value.op == "call_function" and value.target is _aten.detach.default:
        value = value.args[0]
    return value


def _take_statistics(node: torch.fx.Node, known: torch.fx.Node) -> None:
    """Let all that reads the mean and deviation of one node read those of another."""
    if node is known:
        return
    for read in [user for user in node.users if user.target is getitem and user.args[1] > 0]:
        with known.graph.inserting_after(known):
            found = known.graph.call_function(getitem, (known, read.args[1]))
        read.replace_all_uses_with(found)
        node.graph.erase_node(read)
