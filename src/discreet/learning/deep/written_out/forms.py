"""Which modules are written out, and in which form."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from inspect import signature
from typing import Any

from torch import nn

from discreet.learning.deep.written_out.attention import write_attention
from discreet.learning.deep.written_out.linear_parts import LinearPart, LinearParts
from discreet.learning.deep.written_out.recurrent import write_cell, write_layers

__all__ = ["Written", "written_form"]

Written = Callable[[Any, Any], tuple[Any, list[LinearPart]] | None]
"""Takes the arguments of a call, and returns what the module returns, and its linear layers; or None."""

_RECURRENT = re.compile(r"(weight|bias)_(ih|hh|hr)(_l\d+(_reverse)?)?")
_ATTENTION = re.compile(r"in_proj_(weight|bias)|[qkv]_proj_weight|out_proj\.(weight|bias)")

_FORMS: dict[Any, tuple[Callable[..., Any], re.Pattern[str]]] = {
    **dict.fromkeys((nn.RNN, nn.GRU, nn.LSTM), (write_layers, _RECURRENT)),
    **dict.fromkeys((nn.RNNCell, nn.GRUCell, nn.LSTMCell), (write_cell, _RECURRENT)),
    nn.MultiheadAttention: (write_attention, _ATTENTION),
}


def written_form(module: nn.Module, trained: Collection[str]) -> Written | None:
    """Return the written-out form of a module that has one, else None.

    A subclass that computes otherwise, and weights that are computed from other parameters, have none.

    Parameters
    ----------
    module : nn.Module
    trained : collection of str
        The names of its trained parameters, each of those that one has.
    """
    for kind, (write, names) in _FORMS.items():
        if isinstance(module, kind) and type(module).forward is kind.forward:
            is_plain = "forward" not in vars(module) and all(
                names.fullmatch(name) for name, _ in module.named_parameters()
            )
            return _form(module, trained, write) if is_plain else None
    return None


def _form(module: nn.Module, trained: Collection[str], write: Callable[..., Any]) -> Written:
    taken = signature(type(module).forward)

    def form(args: Any, kwargs: Any) -> tuple[Any, list[LinearPart]] | None:
        parts = LinearParts(module, trained)
        bound = taken.bind(module, *args, **kwargs)
        bound.apply_defaults()
        returned = write(parts, *bound.args)
        return (returned, parts.noted) if returned is not None and parts.is_complete else None

    return form
