"""What a convolution leaves of its parameters' gradients on an accelerator, in numbers of 16 bits.

They are written out as rows, and measured; or, where these are longer, slopes and patches are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.learning.deep.accelerator.convolution_patches import convolution_patches
from discreet.learning.deep.accelerator.convolution_rows import Geometry, convolution_rows, fits
from discreet.learning.deep.accelerator.example_products import common_short_kind
from discreet.learning.deep.uses import OuterUse, RowsUse, Use

__all__ = ["PatchesUse", "TapRowsUse", "convolution_uses"]


@dataclass(frozen=True, slots=True, eq=False)
class TapRowsUse(Use):
    """Gradients written out, of which the squared norms are known.

    Parameters
    ----------
    rows : tensor (examples, outputs, taps, channels)
        The parameter has channels before taps.
    bounds : tensor of doubles (examples, parts)
        What adds up to the square of each row's norm, from above.
    """

    rows: Tensor
    bounds: Tensor

    @property
    def terms(self) -> int:
        """One for each example."""
        return len(self.rows)

    def mass(self) -> Tensor:
        """The norms, from above: nothing was added up."""
        return self.bounds.sum(1).sqrt()

    def squares(self, mass: Tensor) -> Tensor:
        """Return the squared norms, from above."""
        del mass
        return self.bounds.sum(1)

    def each(self) -> Tensor:
        """Return the rows in the order of the parameter."""
        return self._ordered().rows.double()

    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Sum in doubles, in the order of the parameter."""
        return self._ordered().weighted_sum(factors, out)

    def without(self, kept: Tensor) -> TapRowsUse:
        """Return zeros in rows that are not kept."""
        rows = self.rows.masked_fill(~kept[:, None, None, None], 0)
        return TapRowsUse(rows, self.bounds.masked_fill(~kept[:, None], 0))

    def _ordered(self) -> RowsUse:
        return RowsUse(self.rows.transpose(2, 3).flatten(1))


@dataclass(frozen=True, slots=True, eq=False)
class PatchesUse(Use):
    """Sums over positions of slopes times patches, never written out.

    Parameters
    ----------
    slopes : tensor (examples, positions, outputs)
    patches : tensor (examples, positions, taps times channels)
        The parameter has channels before taps.
    taps : int
    """

    slopes: Tensor
    patches: Tensor
    taps: int

    @property
    def in_order_of_patches(self) -> OuterUse:
        """The same of a parameter that has taps before channels."""
        return OuterUse(self.slopes, self.patches)

    @property
    def in_order(self) -> OuterUse:
        """The same with patches in the order of the parameter."""
        taps_last = self.patches.unflatten(2, (self.taps, -1)).transpose(2, 3)
        return OuterUse(self.slopes, taps_last.flatten(2))

    @property
    def terms(self) -> int:
        """One for each position of each example."""
        return self.in_order_of_patches.terms

    def mass(self) -> Tensor:
        """Return the sum over positions of the products of norms."""
        return self.in_order_of_patches.mass()

    def squares(self, mass: Tensor) -> Tensor:
        """Return squared norms by Gram matrices, which know no order."""
        return self.in_order_of_patches.squares(mass)

    def each(self) -> Tensor:
        """Write the gradients out."""
        return self.in_order.each()

    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Multiply two matrices."""
        return self.in_order.weighted_sum(factors, out)

    def without(self, kept: Tensor) -> PatchesUse:
        """Return zeros on both sides of examples that are not kept."""
        rest = self.in_order_of_patches.without(kept)
        return PatchesUse(rest.left, rest.right, self.taps)


def convolution_uses(module: Any, given: Tensor, slopes: Tensor) -> dict[str, Use] | None:
    """Return the uses of a convolution's parameters, or None for volumes, groups of channels, and doubles."""
    if isinstance(module, nn.Conv3d) or module.groups > 1 or not fits(given, slopes):
        return None
    before = module._reversed_padding_repeated_twice[::2][::-1]
    if module.padding_mode != "zeros":
        given = functional.pad(given, module._reversed_padding_repeated_twice, mode=module.padding_mode)
        before = [0] * len(before)
    geometry = Geometry(
        kernel=_two(module.kernel_size, 1),
        stride=_two(module.stride, 1),
        padding=_two(before, 0),
        dilation=_two(module.dilation, 1),
    )
    if given.dim() == 3:
        given, slopes = given.unsqueeze(2), slopes.unsqueeze(2)
    outputs, columns = slopes.shape[1], prod(module.weight.shape[1:])
    positions = slopes.shape[2] * slopes.shape[3]
    if outputs * columns > positions * (outputs + columns):
        kind = common_short_kind(given, slopes)
        patches = convolution_patches(given, slopes.shape[3], positions, geometry, kind)
        flat = slopes.flatten(2)
        sums = flat.sum(2, dtype=torch.float32)
        use = PatchesUse(flat.transpose(1, 2), patches, prod(geometry.kernel))
        return {"weight": use.in_order if positions == 1 else use, "bias": RowsUse(sums)}
    rows, bounds, sums = convolution_rows(given, slopes, geometry)
    return {"weight": TapRowsUse(rows, bounds), "bias": RowsUse(sums)}


def _two(sizes: Any, first: int) -> tuple[int, int]:
    """Return the sizes of an image; a sequence is one of height 1."""
    down, right = sizes if len(sizes) == 2 else (first, *sizes)
    return down, right
