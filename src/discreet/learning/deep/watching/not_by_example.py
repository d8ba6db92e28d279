"""Modules whose gradients cannot be taken example by example: refused, each with the line that mends it."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.nn.modules.dropout import _DropoutNd

from discreet.errors import ParameterError
from discreet.learning.deep.watching.loose_parameters import loose_parameters

__all__ = ["refused_module", "written_place"]


def written_place(name: str) -> str:
    """Return how a part of a model is written in a program: ``model.layers[0].norm``."""
    parts = [f"[{part}]" if part.isdecimal() else f".{part}" for part in name.split(".") if part]
    return "model" + "".join(parts)


def refused_module(module: nn.Module, name: str, trained: set[str]) -> ParameterError:
    """Return the refusal of a module that `torch.func.vmap` could not run.

    Parameters
    ----------
    module : nn.Module
    name : str
        Where it is in the model.
    trained : set of str
        The names of its trained parameters, those of its parts too.
    """
    title = f"{type(module).__name__} ({name or 'the model'})"
    own = [key for key, _ in loose_parameters(module) if key in trained]
    hindering = next(((key, part) for key, part in module.named_modules() if _is_hindering(part)), None)
    problem = f"has a {title} whose gradients cannot be taken example by example"
    if hindering is None:
        return ParameterError(
            "model",
            problem,
            "modules that torch.func.vmap can run, without dropout inside; or frozen: "
            f"{written_place(name)}.requires_grad_(False)",
        )
    key, part = hindering
    off = _switched_off(part, written_place(".".join(filter(None, (name, key)))))
    if not own or not key:
        return ParameterError("model", problem, off)
    return ParameterError(
        "model",
        f"{problem}: it holds the parameter {own[0]} itself, so that all of it would be run again, and its "
        f"{type(part).__name__} ({key}) does not do the same again",
        f"{written_place(name)}.{own[0]} in a small module of its own, of which forward(self, x) returns "
        f"x + self.{own[0]} or the like; or {off}",
    )


def _is_hindering(part: Any) -> bool:
    """Whether a module draws random numbers, or is one operation that is not run example by example."""
    if isinstance(part, _DropoutNd):
        return part.training and part.p > 0
    if isinstance(part, nn.MultiheadAttention | nn.RNNBase):
        is_random = part.training and part.dropout > 0
        return is_random or isinstance(part, nn.RNNBase)
    return isinstance(part, nn.RNNCellBase)


def _switched_off(part: Any, place: str) -> str:
    if isinstance(part, _DropoutNd):
        return f"{place}.p = 0.0"
    if isinstance(part, nn.MultiheadAttention):
        return f"{place}.dropout = 0.0"
    return f"{place} frozen: {place}.requires_grad_(False)"
