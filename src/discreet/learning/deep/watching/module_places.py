"""Parts of a model as Python finds them, for lines that can be copied."""

from __future__ import annotations

from keyword import iskeyword

from torch import nn

__all__ = ["place_in_model"]


def place_in_model(model: nn.Module, name: str) -> str:
    """Return where a named part is: `model.features[3].norm` for "features.3.norm"."""
    place, module = "model", model
    for part in name.split(".") if name else ():
        if isinstance(module, nn.Sequential | nn.ModuleList) and part.isdecimal():
            place += f"[{part}]"
        elif isinstance(module, nn.ModuleDict):
            place += f'["{part}"]'
        elif part.isidentifier() and not iskeyword(part):
            place += f".{part}"
        else:
            place += f'._modules["{part}"]'
        module = module.get_submodule(part)
    return place
