"""Parameters that a module holds itself, and not in a layer: also those in lists, which nobody calls."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

__all__ = ["loose_parameters"]

_LISTS = (nn.ParameterList, nn.ParameterDict, nn.ModuleList, nn.ModuleDict)


def loose_parameters(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Yield them, with their names in the module."""
    yield from module.named_parameters(recurse=False)
    for key, part in module.named_children():
        if isinstance(part, _LISTS):
            for name, value in loose_parameters(part):
                yield f"{key}.{name}", value
