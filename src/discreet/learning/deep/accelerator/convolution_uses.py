"""What a convolution leaves of its parameters' gradients on an accelerator, in numbers of 16 bits.

They are written out as rows, and measured; or, where these are longer, slopes and patches are kept. Rows
and patches that are longer than what they are made from are made when they are needed: after the backward
pass, when the model's own memory is free again.
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

__all__ = ["ImagesUse", "PatchesUse", "TapRowsUse", "convolution_uses"]


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


@dataclass(frozen=True, slots=True, eq=False)
class ImagesUse(Use):
    """What a convolution read, and its slopes, from which rows or patches are made.

    Parameters
    ----------
    given : tensor (examples, channels, height, width)
    slopes : tensor (examples, outputs, height, width)
    geometry : Geometry
    """

    given: Tensor
    slopes: Tensor
    geometry: Geometry

    def shortened(self, *, may_share: bool) -> ImagesUse:
        """Return the same in numbers of 16 bits.

        Parameters
        ----------
        may_share : bool
            Whether numbers that are so already may stay where they are: nobody else will write to them.
        """
        kind = common_short_kind(self.given, self.slopes)
        given, slopes = (one.to(kind, copy=not may_share) for one in (self.given, self.slopes))
        return ImagesUse(given, slopes, self.geometry)

    @property
    def made(self) -> TapRowsUse | PatchesUse:
        """The gradients, written out or as products of slopes and patches."""
        given, slopes, geometry = self.given, self.slopes, self.geometry
        if _is_shorter_written_out(given, slopes, geometry):
            rows, bounds, _ = convolution_rows(given, slopes, geometry)
            return TapRowsUse(rows, bounds)
        return _with_patches(given, slopes, geometry)

    @property
    def terms(self) -> int:
        """One for each position of each example, or less."""
        return self.made.terms

    def mass(self) -> Tensor:
        """Return the sum of norms of what is added up."""
        return self.made.mass()

    def squares(self, mass: Tensor) -> Tensor:
        """Return squared norms."""
        return self.made.squares(mass)

    def each(self) -> Tensor:
        """Write the gradients out."""
        return self.made.each()

    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Sum what was made."""
        return self.made.weighted_sum(factors, out)

    def without(self, kept: Tensor) -> Use:
        """Return zeros for examples that are not kept."""
        return self.made.without(kept)


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
    is_written_out = _is_shorter_written_out(given, slopes, geometry)
    length = prod(geometry.kernel) * given.shape[1] * slopes.shape[1]
    if is_written_out and len(given) * length <= given.numel() + slopes.numel():
        rows, bounds, sums = convolution_rows(given, slopes, geometry)
        return {"weight": TapRowsUse(rows, bounds), "bias": RowsUse(sums)}
    use: Use = ImagesUse(given, slopes, geometry)
    if not is_written_out and slopes.shape[2:].numel() == 1:
        use = _with_patches(given, slopes, geometry).in_order
    return {"weight": use, "bias": RowsUse(slopes.sum((2, 3), dtype=torch.float32))}


def _is_shorter_written_out(given: Tensor, slopes: Tensor, geometry: Geometry) -> bool:
    """Whether the gradient of an example has fewer numbers than its patches and slopes."""
    outputs, columns = slopes.shape[1], prod(geometry.kernel) * given.shape[1]
    return outputs * columns <= slopes.shape[2:].numel() * (outputs + columns)


def _with_patches(given: Tensor, slopes: Tensor, geometry: Geometry) -> PatchesUse:
    positions, kind = slopes.shape[2:].numel(), common_short_kind(given, slopes)
    patches = convolution_patches(given, slopes.shape[3], positions, geometry, kind)
    return PatchesUse(slopes.flatten(2).transpose(1, 2), patches, prod(geometry.kernel))


def _two(sizes: Any, first: int) -> tuple[int, int]:
    """Return the sizes of an image; a sequence is one of height 1."""
    down, right = sizes if len(sizes) == 2 else (first, *sizes)
    return down, right
