"""Calls of modules that are written out: the calls of the linear layers that they are made of.

A module that PyTorch runs as one operation shows nothing of what its parameters did to an example. While a
model is watched, what it returned is replaced by what its written-out form returns, of the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from discreet.learning.deep.watching.layer_calls import NotedCall, WatchedLayer, noted_call
from discreet.learning.deep.written_out.forms import written_form

__all__ = ["CallWriter", "is_recomputed", "writer_of"]

CallWriter = Callable[[Any, Any], tuple[Any, list[NotedCall]] | None]
"""Takes the arguments of a call, and returns what stands for what was returned, and the calls of layers."""


def writer_of(watched: WatchedLayer) -> CallWriter | None:
    """Return what writes out the calls of a module; None for those that are not written out."""
    module = watched.module
    trained = {id(value) for value in watched.trained.values()}
    every = module.named_parameters(remove_duplicate=False)
    named = {name: value for name, value in every if id(value) in trained}
    form = written_form(module, named) if watched.rule is None else None
    if form is None:
        return None

    def write(args: Any, kwargs: Any) -> tuple[Any, list[NotedCall]] | None:
        found = form(args, kwargs)
        if found is None:
            return None
        returned, parts = found
        calls = []
        for part in parts:
            own = {kind: named[name] for kind, name in part.names.items()}
            layer = WatchedLayer(watched.name, module, part.rule, own)
            calls.append(noted_call(layer, (part.given,), {}, [part.seen]))
        return returned, calls

    return write


def is_recomputed() -> bool:
    """Whether a backward pass is under way, so that a forward pass is one of `torch.utils.checkpoint`."""
    return torch._C._current_graph_task_id() != -1
