"""Modules that let one example decide about another: refused, each with the line that mends it."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.modules.lazy import LazyModuleMixin

from discreet.errors import ParameterError
from discreet.learning.deep.watching.module_places import place_in_model
from discreet.learning.deep.watching.trials.frozen_statistics import can_be_frozen, is_frozen

__all__ = ["check_modules"]


_MOST_GROUPS = 32


def check_modules(model: nn.Module) -> None:
    """Refuse a model of which a part mixes examples, or keeps something of them.

    A batch normalization that is frozen does neither (`frozen_statistics`).
    """
    for name, module in model.named_modules():
        mend = _mend(module, place_in_model(model, name))
        if mend is not None:
            problem, line = mend
            raise ParameterError(
                "model", f"has a {type(module).__name__} ({name or 'the model'}), which {problem}", line
            )


def _mend(module: Any, place: str) -> tuple[str, str] | None:
    if isinstance(module, LazyModuleMixin) and module.has_uninitialized_params():
        return "has no parameters yet", "a model that was called once"
    if isinstance(module, _InstanceNorm):
        if module.track_running_stats:
            return (
                "keeps means of the examples",
                f"{place} = torch.nn.{type(module).__name__}({module.num_features}, affine={module.affine})",
            )
        return None
    if isinstance(module, _BatchNorm):
        return None if is_frozen(module) else _mend_of_batch_norm(module, place)
    if isinstance(module, nn.Embedding | nn.EmbeddingBag):
        if module.max_norm is not None:
            return "changes its rows as they are read", f"{place}.max_norm = None"
        if module.scale_grad_by_freq:
            return "counts words over all examples", f"{place}.scale_grad_by_freq = False"
    if isinstance(module, nn.MultiheadAttention) and not module.batch_first:
        return (
            "has examples on its second axis",
            f"{place} = torch.nn.MultiheadAttention(…, batch_first=True)",
        )
    return None


def _mend_of_batch_norm(module: _BatchNorm, place: str) -> tuple[str, str]:
    own = list(module.parameters())
    if own and not any(value.requires_grad for value in own) and can_be_frozen(module):
        return "is in training mode and mixes examples", f"{place}.eval(), again after every model.train()"
    channels = module.num_features
    replaced = f"torch.nn.GroupNorm({_groups(channels)}, {channels})"
    if isinstance(module, nn.BatchNorm1d):
        replaced = f"torch.nn.LayerNorm({channels}), or {replaced} where examples have positions"
    kept = f"; or {place}.eval().requires_grad_(False) for one that was trained before"
    return "mixes examples", f"{place} = {replaced}{kept if can_be_frozen(module) else ''}"


def _groups(channels: int) -> int:
    """Return the most groups of channels that are equally large, two channels at least where there are two.

    A group of one channel without positions is one number, which a normalization turns into 0.
    """
    least = min(2, channels)
    return next(
        count for count in range(_MOST_GROUPS, 0, -1) if channels % count == 0 and channels >= least * count
    )
