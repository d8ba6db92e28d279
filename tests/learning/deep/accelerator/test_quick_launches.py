"""A kernel is compiled anew for all that Triton compiles it anew for, and started with all its arguments."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from discreet.learning.deep.accelerator import quick_launches
from discreet.learning.deep.accelerator.quick_launches import QuickKernel, launched_quickly

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Compiler:
    """Stands for Triton: notes what is compiled, and what the compiled kernel is started with."""

    arg_names = ("values", "count", "scale", "width", "depth")
    params = (
        *(SimpleNamespace(name=name, has_default=False) for name in arg_names[:-1]),
        SimpleNamespace(name="depth", has_default=True, default=32),
    )

    def __init__(self):
        self.compiled, self.started = [], []

    def __getitem__(self, grid):
        def launch(*given, **options):
            self.compiled.append((grid, given, options))
            return self

        return launch if len(grid) < 3 else lambda *given: self.started.append((grid, given))


@pytest.fixture
def compiler(monkeypatch):
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    return Compiler()


def launch(quick, values, count=5, *, scale=2.0, width=8, warps=4, grid=(3,)):
    quick[grid](values, count, scale, width=width, num_warps=warps)


def test_the_second_launch_is_not_compiled_and_has_all_arguments(compiler):
    quick, one, other = QuickKernel(compiler), torch.zeros(8), torch.ones(8)
    launch(quick, one)
    launch(quick, other, grid=(7, 2))
    assert len(compiler.compiled) == 1
    ((grid, given),) = compiler.started
    assert grid == (7, 2, 1)
    assert given[0] is other
    assert given[1:] == (5, 2.0, 8, 32)


@pytest.mark.parametrize(
    "change",
    [
        {"values": torch.zeros(8, dtype=torch.bfloat16)},
        {"values": torch.zeros(9)[1:]},
        {"count": 1},
        {"count": True},
        {"count": 5.0},
        {"scale": 3.0},
        {"width": 16},
        {"warps": 8},
        {"values": TensorDescriptor(torch.zeros(8, 8), [8, 8], [8, 1], [4, 4])},
    ],
)
def test_other_arguments_are_compiled_for(compiler, change):
    quick, given = QuickKernel(compiler), {"values": torch.zeros(8)}
    launch(quick, **given)
    launch(quick, **{**given, **change})
    launch(quick, **{**given, **change})
    launch(quick, **given)
    assert len(compiler.compiled) == 2
    assert len(compiler.started) == 2


BLOCKS = [([8, 8], [8, 1], [4, 8]), ([4, 8], [8, 1], [4, 4]), ([8, 4], [8, 1], [4, 4])]


@pytest.mark.parametrize("shape", BLOCKS)
def test_other_blocks_of_a_tensor_are_compiled_for(compiler, shape):
    quick, base = QuickKernel(compiler), torch.zeros(8, 8)
    launch(quick, TensorDescriptor(base, [8, 8], [8, 1], [4, 4]))
    launch(quick, TensorDescriptor(base, *shape))
    assert len(compiler.compiled) == 2


def test_descriptors_of_other_numbers_are_compiled_for(compiler):
    quick = QuickKernel(compiler)
    for kind in (torch.float32, torch.bfloat16, torch.float32):
        base = torch.zeros(8, 8, dtype=kind)
        launch(quick, TensorDescriptor(base, [8, 8], [8, 1], [4, 4]))
    assert len(compiler.compiled) == 2


def test_another_device_is_compiled_for(compiler, monkeypatch):
    quick = QuickKernel(compiler)
    launch(quick, torch.zeros(8))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    launch(quick, torch.zeros(8))
    assert len(compiler.compiled) == 2


def test_not_more_is_known_than_fits(compiler, monkeypatch):
    monkeypatch.setattr(quick_launches, "_MOST_KNOWN", 4)
    quick = QuickKernel(compiler)
    for count in range(20):
        launch(quick, torch.zeros(8), count)
        assert len(quick._known) <= 4


@launched_quickly
@triton.jit
def _copy_kernel(values, out, count, width: tl.constexpr):
    place = tl.arange(0, width)
    read = tl.load(values + place, mask=place < count, other=0)
    tl.store(out + place, read, mask=place < count)


def test_a_kernel_of_this_system_does_the_same_every_time():
    """Also where memory is not aligned: what was compiled for other memory would be read in steps."""
    for start in (0, 0, 1, 1, 0, 1):
        values = torch.arange(64, dtype=torch.float32, device=DEVICE)[start:]
        out = torch.zeros(64, device=DEVICE)[start:]
        _copy_kernel[(1,)](values, out, len(values), width=64)
        assert torch.equal(out, values)
    assert isinstance(_copy_kernel, QuickKernel) == torch.cuda.is_available()
