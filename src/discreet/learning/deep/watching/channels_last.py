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
_FIXED = (_aten.as_strided.default, _aten.as_strided_scatter.default)
"""Operations whose result depends on a layout."""
_READ = 3  # arguments of a convolution's backward pass that are images or kernels: slopes, input, weight


def laid_channels_last(graph: torch.fx.GraphModule, given: list[Tensor]) -> torch.fx.GraphModule:
    """Return a graph with the same numbers, in which convolutions and their backward passes read this layout.

    What they read is copied to it, for all that read it. A compiler makes no copy of what it writes itself:
    it writes it so. A graph with operations that need another layout is returned as it is.

    Parameters
    ----------
    graph : GraphModule
        Of operations on tensors, without modules and writes (`written_graphs`).
    given : list of tensors
        What it takes, for shapes and types.
    """
    nodes = deepcopy(graph.graph)
    backward = nodes.find_nodes(op="call_function", target=_aten.convolution_backward.default)
    read = {value: None for node in backward for value in node.args[:_READ] if _is_image(value)}
    if not read or any(nodes.find_nodes(op="call_function", target=fixed) for fixed in _FIXED):
        return graph
    first = next(node for node in nodes.nodes if node.op != "placeholder")
    for value in read:
        place = nodes.inserting_before(first) if value.op == "placeholder" else nodes.inserting_after(value)
        with place:
            copy = nodes.call_function(_aten.clone.default, (value,), {"memory_format": torch.channels_last})
        value.replace_all_uses_with(copy, delete_user_cb=lambda user, copy=copy: user is not copy)
    for node in nodes.find_nodes(op="call_function", target=_aten.view.default):
        node.target = _aten.reshape.default
    try:
        return _traced_again(torch.fx.GraphModule(graph, nodes), given)
    except RuntimeError:
        return graph


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
