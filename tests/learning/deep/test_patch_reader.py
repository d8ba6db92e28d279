"""Patches are what positions read, one by one, of every kind of convolution."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import nn
from torch.nn import functional

from discreet.learning.deep.patch_reader import PatchReader, patches_in_order

MODULES = {
    "sequences": (nn.Conv1d(3, 4, 3, stride=2, padding=1), (3, 11)),
    "sequences around a circle": (nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular"), (2, 6)),
    "images": (nn.Conv2d(2, 5, (3, 2), stride=(2, 1), padding=(1, 0)), (2, 7, 6)),
    "images of one channel": (nn.Conv2d(1, 5, 4, stride=2, padding=3), (1, 9, 8)),
    "dilated images": (nn.Conv2d(2, 3, (2, 3), dilation=(2, 3), padding="same"), (2, 9, 10)),
    "mirrored images": (nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), (2, 5, 4)),
    "groups": (nn.Conv2d(4, 6, (3, 2), groups=2), (4, 6, 5)),
    "single positions": (nn.Conv2d(2, 3, 1), (2, 3, 3)),
    "volumes": (nn.Conv3d(2, 3, (2, 3, 2), stride=(2, 1, 2), padding=(1, 0, 0)), (2, 4, 5, 4)),
}


def read_one_by_one(module, images):
    """The patch of each position, number by number: (examples, positions, channels, kernel)."""
    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
    padded = functional.pad(images, module._reversed_padding_repeated_twice, mode=mode)
    places = product(*(range(size) for size in module(images).shape[2:]))
    taps = list(product(*(range(size) for size in module.kernel_size)))
    shape = len(images), images.shape[1], *module.kernel_size
    rows = []
    for place in places:
        numbers = [
            padded[
                (
                    ...,
                    *(
                        p * s + t * d
                        for p, s, t, d in zip(place, module.stride, tap, module.dilation, strict=True)
                    ),
                )
            ]
            for tap in taps
        ]
        rows.append(torch.stack(numbers, 2).reshape(shape))
    return torch.stack(rows, 1)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("layout", ["contiguous", "channels last", "part of a wider tensor"])
def test_patches_are_what_positions_read(name, layout):
    module, shape = MODULES[name]
    torch.manual_seed(6)
    images = torch.randn(8, *shape)
    if layout == "channels last":
        images = images.movedim(1, -1).contiguous().movedim(-1, 1)
    elif layout == "part of a wider tensor":
        images = torch.randn(9, *shape[:-1], shape[-1] + 2)[1:, ..., 1:-1]
    blocks = PatchReader(module, images, 4).blocks()
    for block, patches in zip(images.split(4), blocks, strict=True):  # the second is written over the first
        expected = read_one_by_one(module, block)
        assert torch.equal(patches_in_order(module, block), expected.flatten(2))
        turned = expected.permute(0, 1, expected.dim() - 1, *range(3, expected.dim() - 1), 2)
        assert torch.equal(patches, turned.flatten(2))


def test_blocks_of_another_layout_are_read_alike():
    module, shape = MODULES["images"]
    images = torch.randn(3, *shape)
    turned_images = images.to(memory_format=torch.channels_last)
    read, read_alike = (list(PatchReader(module, some, 3).blocks()) for some in (images, turned_images))
    assert torch.equal(*read, *read_alike)


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16], ids=str)
def test_numbers_stay_as_they_are(kind):
    module, shape = MODULES["images"]
    images = torch.randn(3, *shape).to(kind)
    found = patches_in_order(module, images)
    assert found.dtype == kind
    assert torch.equal(found.float(), read_one_by_one(module, images.float()).to(kind).float().flatten(2))
