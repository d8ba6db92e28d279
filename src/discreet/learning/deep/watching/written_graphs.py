"""A graph in which no operation writes over a tensor: what would have been written is a tensor of its own.

A tensor that is written over, or a view of it, is another one before and after. Where graphs are rewritten,
each node is to stand for the same numbers wherever it is read.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["without_writes"]


def without_writes(graph: torch.fx.GraphModule, given: list[Tensor]) -> torch.fx.GraphModule:
    """Return a graph with the same numbers and no writes, but for those to what it is given, at its end.

    Parameters
    ----------
    graph : GraphModule
        Of operations on tensors, without modules.
    given : list of tensors
        What it takes, for shapes and types.

    Raises
    ------
    RuntimeError
        For operations that are not known otherwise than writing.
    """
    if not any(_writes(node) for node in graph.graph.nodes):
        return graph
    from torch.func import functionalize
    from torch.fx.experimental.proxy_tensor import make_fx

    kept = functionalize(graph, remove="mutations")
    trace = make_fx(kept, tracing_mode="fake", _allow_non_fake_inputs=True)
    with torch.no_grad(), torch.autocast(given[0].device.type, enabled=False):  # which the graph has inside
        return trace(*given)


def _writes(node: torch.fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable
