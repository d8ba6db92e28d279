"""What each position of a convolution's output reads of its input, as rows of a matrix.

Blocks of examples are read faster on the processor if rows of an image become channels first, in a copy that
is smaller than all patches: then a patch is one run of numbers in memory. So the axes of a patch are turned:
the last of the kernel, the others, channels. Images of several channels are turned alike before, so that rows
are made of runs, too. Blocks that follow each other are written to the same place: memory that is taken anew
for each would cost more time than what is written to it, by measurement.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["PatchReader", "patches_in_order"]


class PatchReader:
    """Reads the patches of a batch, a block of examples at a time.

    Parameters
    ----------
    module : nn.Conv1d, nn.Conv2d or nn.Conv3d
    given : tensor (examples, channels, sizes)
        Padded once: to pad each block would take more time than to read it.
    size : int
        How many examples a block has, a divisor of their number.
    """

    def __init__(self, module: Any, given: Tensor, size: int) -> None:
        self._module, self._size = module, size
        self._padded = _padded(module, given)
        *others, last = _outputs(module, self._padded)
        channels, *_, width = self._padded.shape[1:]
        *kernel, taps = module.kernel_size
        run = prod(kernel) * channels
        self._lines = given.new_empty(size, *others, width, *kernel, channels)
        self._view = self._lines.as_strided(
            (size, prod(others), last, taps, run),
            (
                prod(others) * width * run,
                width * run,
                module.stride[-1] * run,
                module.dilation[-1] * run,
                1,
            ),
        )
        self._patches = torch.empty_like(self._view, memory_format=torch.contiguous_format)

    def blocks(self) -> Iterator[Tensor]:
        """Yield the patches (examples, positions, columns) of each block, which the next is written over."""
        for block in self._padded.split(self._size):
            turned = self._turned(block)
            example, step, *steps, channel = turned.stride()
            across = [size * jump for size, jump in zip(steps, self._module.stride, strict=False)]
            inside = [size * spread for size, spread in zip(steps, self._module.dilation, strict=False)]
            strides = example, *across, step, *inside, channel
            self._lines.copy_(turned.as_strided(self._lines.shape, strides))
            yield self._patches.copy_(self._view).flatten(3).flatten(1, 2)

    def _turned(self, block: Tensor) -> Tensor:
        """Return images as (examples, last size, other sizes, channels)."""
        turned = block.movedim(1, -1).movedim(-2, 1)
        return turned if block.shape[1] == 1 else turned.contiguous()


def patches_in_order(module: Any, given: Tensor) -> Tensor:
    """Return the patches (examples, positions, columns), in the order of the parameter: channels, kernel."""
    padded = _padded(module, given)
    examples, channels = padded.shape[:2]
    example, channel, *steps = padded.stride()
    outputs = _outputs(module, padded)
    inside = [step * spread for step, spread in zip(steps, module.dilation, strict=True)]
    across = [step * jump for step, jump in zip(steps, module.stride, strict=True)]
    view = padded.as_strided(
        (examples, channels, *module.kernel_size, *outputs), (example, channel, *inside, *across)
    )
    columns = channels * prod(module.kernel_size)
    return view.reshape(examples, columns, prod(outputs)).transpose(1, 2)


def _padded(module: Any, block: Tensor) -> Tensor:
    widths = module._reversed_padding_repeated_twice
    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
    return functional.pad(block, widths, mode=mode) if any(widths) else block


def _outputs(module: Any, padded: Tensor) -> list[int]:
    """Return how many positions each axis has."""
    axes = zip(padded.shape[2:], module.kernel_size, module.stride, module.dilation, strict=True)
    return [(size - spread * (width - 1) - 1) // step + 1 for size, width, step, spread in axes]
