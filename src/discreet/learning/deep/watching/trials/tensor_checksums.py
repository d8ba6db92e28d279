"""A number of 64 bits that is another one if a bit of a tensor changes, computed without a copy of it.

The bits are read as integers x of at most 32 bits, in blocks. The checksum is Σ_b c_b Σ_j a_j x_bj modulo
2⁶⁴, with fixed odd numbers a and c. Odd numbers are invertible, so a change of one integer is always seen. Of
changes d of several, the first of which is an odd multiple of 2ᵏ with k ≤ 32, one in 2³¹ choices of its odd
number at most makes Σ a d = 0: the choice is made before there is a model.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

__all__ = ["checksums"]

_BLOCK = 1 << 18
_AT_ONCE = 16  # blocks: an accelerator is started once for all of them, and 32 MB hold their products
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int32, 16: torch.int32}


@torch.no_grad()
def checksums(values: list[Tensor]) -> list[Tensor]:
    """Return the checksums of tensors, each where the tensor is."""
    return [_checksum(part) for value in values for part in _plain(value)]


def _plain(value: Tensor) -> list[Tensor]:
    """Return the tensors that one is made of: itself, or those that a kind of its own keeps."""
    if value.is_quantized:
        return [value.int_repr()]
    if not is_traceable_wrapper_subclass(value):
        return [value.detach()]
    names, _ = value.__tensor_flatten__()
    parts = [getattr(value, name) for name in names]
    return [own for part in parts if isinstance(part, Tensor) for own in _plain(part)]


def _checksum(value: Tensor) -> Tensor:
    flat = value.resolve_conj().resolve_neg().contiguous().reshape(-1).view(_INTEGERS[value.element_size()])
    inner, outer = (_odd_numbers(seed, _BLOCK, value.device) for seed in (0, 1))
    whole = len(flat) // _BLOCK * _BLOCK
    sums = [(some * inner).sum(1) for some in flat[:whole].view(-1, _BLOCK).split(_AT_ONCE)]
    rest = (flat[whole:] * inner[: len(flat) - whole]).sum(0, keepdim=True)
    found = torch.cat([*sums, rest])
    return (found * outer[: len(found)]).sum()


@cache
def _odd_numbers(seed: int, count: int, device: torch.device) -> Tensor:
    """Return fixed odd numbers of 64 bits."""
    bits = torch.Generator("cpu").manual_seed(seed)
    found = torch.randint(-(2**62), 2**62, (count,), generator=bits, device="cpu")
    return (2 * found + 1).to(device)
