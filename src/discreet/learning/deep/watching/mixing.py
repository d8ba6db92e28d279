"""Modules that let one example decide about another: refused, each with the line that mends it."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.modules.lazy import LazyModuleMixin

from discreet.errors import ParameterError

__all__ = ["check_modules"]


def check_modules(model: nn.Module) -> None:
    """Refuse a model of which a part mixes examples, or keeps something of them."""
    for name, module in model.named_modules():
        mend = _mend(module, name)
        if mend is not None:
            problem, line = mend
            raise ParameterError(
                "model", f"has a {type(module).__name__} ({name or 'the model'}), which {problem}", line
            )


def _mend(module: Any, name: str) -> tuple[str, str] | None:
    place = f"model.{name}" if name else "model"
    if isinstance(module, _InstanceNorm):
        if module.track_running_stats:
            return (
                "keeps means of the examples",
                f"{place} = torch.nn.{type(module).__name__}({module.num_features}, affine={module.affine})",
            )
        return None
    if isinstance(module, _BatchNorm):
        channels = module.num_features
        groups = next(count for count in (32, 16, 8, 4, 2, 1) if channels % count == 0)
        return "mixes examples", f"{place} = torch.nn.GroupNorm({groups}, {channels})"
    if isinstance(module, LazyModuleMixin) and module.has_uninitialized_params():
        return "has no parameters yet", "a model that was called once"
    if isinstance(module, nn.Embedding | nn.EmbeddingBag):
        if module.max_norm is not None:
            return "changes its rows as they are read", f"{place}.max_norm = None"
        if module.scale_grad_by_freq:
            return "counts words over all examples", f"{place}.scale_grad_by_freq = False"
    if isinstance(module, nn.MultiheadAttention) and not module.batch_first:
        return "has examples on its second axis", "torch.nn.MultiheadAttention(…, batch_first=True)"
    return None
