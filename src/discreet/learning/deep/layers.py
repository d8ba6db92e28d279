"""What each layer leaves of its parameters' gradients: from its input and the gradient of its output.

A rule takes a module, its input and the gradient of its output, with examples along the first axis of both,
and returns the uses of its parameters by name.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.learning.deep.equal_blocks import block_size
from discreet.learning.deep.patch_reader import PatchReader, patches_in_order
from discreet.learning.deep.uses import (
    LookupUse,
    RowsUse,
    TurnedRowsUse,
    Use,
    is_written_out,
    outer_use,
)

__all__ = [
    "GradientRule",
    "as_read_by_kernels",
    "cast_by_autocast",
    "is_traceable",
    "linear_uses",
    "rule_of",
]

_IN_CACHE = (
    1 << 19
)  # numbers of patches that are written at once; more would wait for memory, by time measured

GradientRule = Callable[[Any, Tensor, Tensor], dict[str, Use]]


def rule_of(module: nn.Module) -> GradientRule | None:
    """Return the rule of a layer that is known, else None.

    A subclass that computes otherwise, or weights that are computed from other parameters, are not known.
    """
    names = {name for name, _ in module.named_parameters(recurse=False)}
    if hasattr(module, "parametrizations") or "forward" in vars(module) or not names <= {"weight", "bias"}:
        return None
    if type(module).__name__ == "Conv1D" and hasattr(module, "nf") and module.weight.dim() == 2:
        return _transposed_linear
    for kind, rule in _RULES.items():
        if isinstance(module, kind) and type(module).forward is kind.forward:
            return rule
    return None


def cast_by_autocast(rule: GradientRule | None) -> Callable[[Tensor], Tensor] | None:
    """Return what autocast does to the input of layers of a rule: the numbers that they compute with.

    They would cast it themselves. Cast before them, numbers are the same, and only these are kept.
    """
    if rule in (linear_uses, _transposed_linear, _convolution):
        return _to_shorter
    return _to_longer if rule in (_layer_norm, _group_norm) else None


def _to_shorter(given: Tensor) -> Tensor:
    kind = given.device.type
    is_cast = torch.is_autocast_enabled(kind) and given.is_floating_point() and given.dtype != torch.float64
    return given.to(torch.get_autocast_dtype(kind)) if is_cast else given


def _to_longer(given: Tensor) -> Tensor:
    """Of normalizing layers, on an accelerator alone: processors have them compute with shorter floats."""
    is_short = given.dtype in (torch.float16, torch.bfloat16)
    return given.float() if is_short and given.is_cuda and torch.is_autocast_enabled("cuda") else given


def is_traceable(rule: GradientRule | None) -> bool:
    """Whether what a rule does can be part of a graph; other rules take kernels, or blocks of examples."""
    return rule not in (None, _convolution)


def as_read_by_kernels(rule: GradientRule | None, given: Tensor, slopes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the input and the slopes of a layer that a graph leaves to kernels, as these read them fastest.

    Of convolutions they are numbers of 16 bits with channels next to each other, to which kernels would round
    what has its channels there.
    """
    if rule is not _convolution or not given.is_cuda or given.dim() != 4 or slopes.dtype == torch.float64:
        return given, slopes
    kind = torch.float16 if given.dtype == slopes.dtype == torch.float16 else torch.bfloat16
    form = torch.channels_last
    return given.to(kind, memory_format=form), slopes.to(kind, memory_format=form)


def _by_position(values: Tensor) -> Tensor:
    """Give values (examples, …, columns) one axis of positions."""
    return values.reshape(len(values), -1, values.shape[-1])


def _over_positions(values: Tensor) -> Tensor:
    """Sum over positions; one of them is its own sum, and is not copied."""
    return values[:, 0] if values.shape[1] == 1 else values.sum(1)


def linear_uses(module: nn.Module, given: Tensor, slopes: Tensor) -> dict[str, Use]:
    """Return the uses of a weight and a bias; the module is not looked at."""
    left, right = _by_position(slopes), _by_position(given)
    return {"weight": outer_use(left, right), "bias": RowsUse(_over_positions(left))}


def _transposed_linear(module: nn.Module, given: Tensor, slopes: Tensor) -> dict[str, Use]:
    """The `Conv1D` of Hugging Face: a linear layer whose matrix has inputs as rows."""
    left, right = _by_position(given), _by_position(slopes)
    return {"weight": outer_use(left, right), "bias": RowsUse(_over_positions(right))}


def _convolution(module: Any, given: Tensor, slopes: Tensor) -> dict[str, Use]:
    """A linear layer at each position of the output, on the patch of the input that it reads."""
    if given.is_cuda and (found := _without_patches(module, given, slopes)) is not None:
        return found
    kind = torch.promote_types(given.dtype, slopes.dtype)  # they differ under autocast
    given, flat = given.to(kind), slopes.to(kind).flatten(2)
    bias = RowsUse(flat.sum(2))
    if module.groups == 1:
        rows, positions, columns = flat.shape[1], flat.shape[2], prod(module.weight.shape[1:])
        if not is_written_out(positions, rows, columns):
            return {
                "weight": outer_use(flat.transpose(1, 2), patches_in_order(module, given)),
                "bias": bias,
            }
        if not given.is_cuda:
            return {"weight": _written_out(module, given, flat), "bias": bias}
    patches = patches_in_order(module, given)
    examples, _, positions = flat.shape
    each = torch.matmul(
        flat.reshape(examples, module.groups, -1, positions),
        patches.reshape(examples, positions, module.groups, -1).transpose(1, 2),
    )
    return {"weight": RowsUse(each.flatten(1)), "bias": bias}


def _without_patches(module: Any, given: Tensor, slopes: Tensor) -> dict[str, Use] | None:
    """The same by kernels that read the input where it is, if there are any for this layer and system."""
    try:
        from discreet.learning.deep.accelerator.convolution_uses import convolution_uses
    except ImportError:  # Triton, which sums in doubles do without
        return None
    return convolution_uses(module, given, slopes)


def _written_out(module: Any, given: Tensor, flat: Tensor) -> TurnedRowsUse:
    """Return the gradients of a convolution as rows, some examples at a time: patches stay in the cache.

    All blocks have the same shape, so that an example's row is computed alike wherever it stands.
    """
    examples, rows, positions = flat.shape
    channels, *kernel = module.weight.shape[1:]
    columns = channels * prod(kernel)
    size = block_size(examples, _IN_CACHE // (columns * positions))
    found = flat.new_empty(examples, rows, columns)
    blocks = PatchReader(module, given, size).blocks()
    for patches, one, out in zip(blocks, flat.split(size), found.split(size), strict=True):
        torch.bmm(one, patches, out=out)
    axes = len(kernel)
    shape = rows, kernel[-1], *kernel[:-1], channels
    order = 0, axes + 1, *range(2, axes + 1), 1
    return TurnedRowsUse(RowsUse(found.flatten(1)), shape, order)


def _embedding(module: nn.Embedding, given: Tensor, slopes: Tensor) -> dict[str, Use]:
    index, gradients = given.reshape(len(given), -1).long(), _by_position(slopes)
    if module.padding_idx is not None:
        gradients = gradients.masked_fill((index == module.padding_idx)[:, :, None], 0)
    return {"weight": LookupUse(index, gradients, module.num_embeddings)}


def _layer_norm(module: nn.LayerNorm, given: Tensor, slopes: Tensor) -> dict[str, Use]:
    entries = prod(module.normalized_shape)
    if (kernels := _normalizing_kernels(given, slopes)) is not None and entries <= kernels.WIDEST:
        shape = (len(given), -1, entries)
        found = kernels.layer_norm_rows(given.reshape(shape), slopes.reshape(shape), module.eps)
        return {"weight": RowsUse(found[0]), "bias": RowsUse(found[1])}
    normal = functional.layer_norm(given, module.normalized_shape, eps=module.eps)
    return _of_normalized(module.normalized_shape, normal, slopes)


def _rms_norm(module: nn.RMSNorm, given: Tensor, slopes: Tensor) -> dict[str, Use]:
    normal = functional.rms_norm(given, module.normalized_shape, eps=module.eps)
    return _of_normalized(module.normalized_shape, normal, slopes)


def _of_normalized(shape: tuple[int, ...], normal: Tensor, slopes: Tensor) -> dict[str, Use]:
    """Gain and bias of a layer that scales each entry of the last axes by itself."""
    entries = prod(shape)
    by_gain = (slopes * normal).reshape(len(slopes), -1, entries).sum(1)
    return {"weight": RowsUse(by_gain), "bias": RowsUse(slopes.reshape(len(slopes), -1, entries).sum(1))}


def _normalizing_kernels(given: Tensor, slopes: Tensor) -> Any:
    """Return the accelerator's kernels for normalizing layers, if they are for these numbers."""
    if type(given) is not Tensor or not given.is_cuda or torch.float64 in (given.dtype, slopes.dtype):
        return None  # what is traced has no numbers that kernels could read
    try:
        from discreet.learning.deep.accelerator import normalized_rows
    except ImportError:  # Triton, which sums in doubles do without
        return None
    return normalized_rows


def _group_norm(module: nn.GroupNorm, given: Tensor, slopes: Tensor) -> dict[str, Use]:
    each = given.shape[1] // module.num_groups
    if (kernels := _normalizing_kernels(given, slopes)) is not None and each <= kernels.WIDEST:
        found = kernels.group_norm_rows(given, slopes, module.num_groups, module.eps)
        return {"weight": RowsUse(found[0]), "bias": RowsUse(found[1])}
    normal = functional.group_norm(given, module.num_groups, eps=module.eps)
    examples, channels = slopes.shape[:2]
    by_gain = (slopes * normal).reshape(examples, channels, -1).sum(2)
    return {"weight": RowsUse(by_gain), "bias": RowsUse(slopes.reshape(examples, channels, -1).sum(2))}


_RULES: dict[Any, GradientRule] = {
    nn.Linear: linear_uses,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    nn.Conv3d: _convolution,
    nn.Embedding: _embedding,
    nn.LayerNorm: _layer_norm,
    nn.RMSNorm: _rms_norm,
    nn.GroupNorm: _group_norm,
}
