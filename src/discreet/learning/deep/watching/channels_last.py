"""A graph of convolutions whose images have their channels next to each other in memory.

An accelerator convolves such images fastest. A compiler lays images of a forward pass so by itself, but keeps
to the layout that it is given where a backward pass begins: in a graph of both, to that of the trace.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

__all__ = ["laid_channels_last"]

_aten = torch.ops.aten
_CONVOLUTIONS = (_aten.convolution.default, _aten.convolution_backward.default)
_FIXED = (_aten.as_strided.default, _aten.as_strided_scatter.default)
"""Operations whose result depends on a layout."""
_READ = 3  # arguments of a convolution's backward pass that are images or kernels: slopes, input, weight


def laid_channels_last(graph: torch.fx.GraphModule, given: list[Tensor]) -> torch.fx.GraphModule:
    """Return a graph with the same numbers, in which convolutions and their backward passes read this layout.

    What they read is copied to it, for all that read it from then on: between a convolution and its backward
    pass nothing writes over it, which PyTorch looks after. A compiler makes no copy of what it writes itself:
    it writes it so. A graph with operations that need another layout is returned as it is.

    Parameters
    ----------
    graph : GraphModule
        Of operations on tensors, without modules.
    given : list of tensors
        What it takes, for shapes and types.
    """
    nodes = deepcopy(graph.graph)
    backward = nodes.find_nodes(op="call_function", target=_CONVOLUTIONS[1])
    read = {value: None for node in backward for value in node.args[:_READ] if _is_image(value)}
    if not read or any(nodes.find_nodes(op="call_function", target=fixed) for fixed in _FIXED):
        return graph
    order = {node: place for place, node in enumerate(nodes.nodes)}
    for value in read:
        first = min((user for user in value.users if user.target in _CONVOLUTIONS), key=order.__getitem__)
        later = [(same, user) for same in _same(value) for user in same.users if order[user] >= order[first]]
        with nodes.inserting_before(first):
            copy = nodes.call_function(_aten.clone.default, (value,), {"memory_format": torch.channels_last})
        for same, user in later:
            user.replace_input_with(same, copy)
    for node in nodes.find_nodes(op="call_function", target=_aten.view.default):
        node.target = _aten.reshape.default
    try:
        return _traced_again(torch.fx.GraphModule(graph, nodes), given)
    except RuntimeError:
        return graph


def _same(value: torch.fx.Node) -> list[torch.fx.Node]:
    """Return the nodes that are one tensor."""
    parts = [user for user in value.users if user.target is _aten.detach.default]
    return [value, *(same for part in parts for same in _same(part))]


def _is_image(value: Any) -> bool:
    return isinstance(value, torch.fx.Node) and value.meta["val"].dim() == 4


def _traced_again(graph: torch.fx.GraphModule, given: list[Tensor]) -> torch.fx.GraphModule:
    """Return the graph in operations for the layouts that it has now; norms of groups have none for this."""
    from torch._decomp import get_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    norms = get_decompositions([_aten.native_group_norm, _aten.native_group_norm_backward])
    trace = make_fx(graph, norms, tracing_mode="fake", _allow_non_fake_inputs=True)
    with torch.no_grad(), torch.autocast(given[0].device.type, enabled=False):  # which the graph has inside
        again = trace(*given)
    again.graph.eliminate_dead_code()
    again.recompile()
    return again
