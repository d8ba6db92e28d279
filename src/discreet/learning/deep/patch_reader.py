"""What each position of a convolution's output reads of its input, as rows of a matrix, on the processor.

Rows of an image become channels first, in a copy that is smaller than all patches: then a patch is one run of
numbers in memory. So the axes of a patch are turned: the last of the kernel, the others, channels.

Blocks of examples that follow each other are written to the same place: memory that is taken anew for each
would cost more time than what is written to it, by measurement.
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["PatchReader"]


class PatchReader:
    """Reads the patches of blocks of examples that have one shape.

    Parameters
    ----------
    module : nn.Conv1d, nn.Conv2d or nn.Conv3d
    block : tensor (examples, channels, sizes)
        The first block, or one like it.
    """

    def __init__(self, module: Any, block: Tensor) -> None:
        self._mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
        self._widths = module._reversed_padding_repeated_twice
        padded = self._padded(block)
        kernel, stride, self._dilation = module.kernel_size, module.stride, module.dilation
        self._stride = stride
        examples, channels, *sizes = padded.shape
        outputs = [
            (size - spread * (width - 1) - 1) // step + 1
            for size, width, step, spread in zip(sizes, kernel, stride, self._dilation, strict=True)
        ]
        *others, last = outputs
        run = prod(kernel[:-1]) * channels
        self._lines = block.new_empty(examples, *others, sizes[-1], *kernel[:-1], channels)
        self._view = self._lines.as_strided(
            (examples, prod(others), last, kernel[-1], run),
            (prod(others) * sizes[-1] * run, sizes[-1] * run, stride[-1] * run, self._dilation[-1] * run, 1),
        )
        self._patches = torch.empty_like(self._view, memory_format=torch.contiguous_format)
        self._axes = kernel[-1], *kernel[:-1], channels

    def turned(self, block: Tensor) -> Tensor:
        """Return the patches (examples, positions, columns), which the next call writes over."""
        padded = self._padded(block)
        example, channel, *steps, step = padded.stride()
        across = [size * jump for size, jump in zip(steps, self._stride, strict=False)]
        inside = [size * spread for size, spread in zip(steps, self._dilation, strict=False)]
        self._lines.copy_(padded.as_strided(self._lines.shape, (example, *across, step, *inside, channel)))
        return self._patches.copy_(self._view).view(len(block), -1, prod(self._axes))

    def in_order(self, block: Tensor) -> Tensor:
        """Return them with the axes in the order of the parameter: channels, and then the kernel."""
        turned = self.turned(block).unflatten(2, self._axes)
        last = turned.dim() - 1
        return turned.permute(0, 1, last, *range(3, last), 2).flatten(2)

    def _padded(self, block: Tensor) -> Tensor:
        return functional.pad(block, self._widths, mode=self._mode) if any(self._widths) else block
