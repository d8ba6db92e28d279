"""Kernels that are started without asking again how they were compiled: in loops that takes most of the time.

Triton compiles a kernel anew for other types of arguments, for memory that is aligned otherwise, and for some
integers. What it has compiled is found here by more than that: by all integers and floats as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from triton.runtime.jit import JITFunction
from triton.tools.tensor_descriptor import TensorDescriptor

__all__ = ["QuickKernel", "launched_quickly"]

_ALIGNED = 16  # bytes, that Triton compiles for
_MOST_KNOWN = 1024  # kinds of arguments of a kernel: beyond them, all are forgotten


class QuickKernel:
    """A compiled kernel for every kind of arguments.

    Parameters
    ----------
    kernel : JITFunction
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._names: list[str] = kernel.arg_names
        self._usual = {one.name: one.default for one in kernel.params if one.has_default}
        self._known: dict[Any, tuple[Any, list[Any]]] = {}

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        return partial(self._launch, grid)

    def _launch(self, grid: tuple[int, ...], *given: Any, **options: Any) -> None:
        kinds = (torch.cuda.current_device(), *map(_kind, given), *options.items())
        known = self._known.get(kinds)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            compiled, named = self.kernel[grid](*given, **options), {**self._usual, **options}
            self._known[kinds] = compiled, [named[name] for name in self._names[len(given) :]]
            return
        compiled, rest = known
        compiled[*grid, *(1,) * (3 - len(grid))](*given, *rest)


def _kind(value: Any) -> Any:
    """Return what a kernel is compiled for, and more."""
    kind = type(value)
    if kind is int or kind is float:
        return kind, value
    if isinstance(value, Tensor):
        return value.dtype, value.data_ptr() % _ALIGNED
    if isinstance(value, TensorDescriptor):
        sizes = (tuple(value.shape), tuple(value.strides), tuple(value.block_shape))
        return _kind(value.base), sizes
    return kind, value  # 1, 1.0 and True are equal


def launched_quickly(kernel: Any) -> Any:
    """Return a kernel that is launched quickly; one that is interpreted, as it is."""
    return QuickKernel(kernel) if isinstance(kernel, JITFunction) else kernel
