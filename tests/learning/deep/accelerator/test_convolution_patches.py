"""Patches of an accelerator, against those that PyTorch unfolds."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from discreet.learning.deep.accelerator.convolution_patches import convolution_patches
from discreet.learning.deep.accelerator.convolution_rows import Geometry

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
GEOMETRIES = [
    Geometry((3, 3), (1, 1), (1, 1), (1, 1)),
    Geometry((3, 2), (2, 1), (0, 1), (1, 2)),
    Geometry((1, 1), (2, 2), (0, 0), (1, 1)),
    Geometry((2, 5), (1, 3), (2, 2), (2, 1)),
]


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("channels", [1, 40])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_patches_are_those_that_are_unfolded(geometry, channels, layout, kind):
    generator = torch.Generator().manual_seed(1)
    images = torch.randn(2, channels, 9, 11, generator=generator).to(DEVICE, memory_format=layout)
    kernel, stride, padding, dilation = geometry
    unfolded = functional.unfold(images, kernel, dilation, padding, stride)  # channels before taps
    expected = unfolded.unflatten(1, (channels, -1)).permute(0, 3, 2, 1).flatten(2).to(kind)
    across = (11 + 2 * padding[1] - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    found = convolution_patches(images, across, expected.shape[1], geometry, kind)
    is_rounded = kind == torch.bfloat16 and not torch.cuda.is_available()  # interpreted, towards 0
    assert torch.allclose(found.float(), expected.float(), rtol=2.0**-7 if is_rounded else 0, atol=0)
    assert found.stride(1) % 8 == 0


def test_what_is_not_finite_stays_where_it_is_read():
    images = torch.ones(2, 1, 3, 3, device=DEVICE)
    images[1, 0, 0, 0] = torch.nan
    found = convolution_patches(images, 2, 4, Geometry((2, 2), (1, 1), (0, 0), (1, 1)), torch.bfloat16)
    assert found.isnan().nonzero().tolist() == [[1, 0, 0]]
