"""Checksums are the stated sums, and see changes that cancel in plain ones."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.learning.deep.watching.trials import tensor_checksums
from discreet.learning.deep.watching.trials.tensor_checksums import _odd_numbers, checksums
from effort import examples

KINDS = [
    torch.float64,
    torch.float32,
    torch.bfloat16,
    torch.float8_e5m2,
    torch.complex64,
    torch.complex128,
    torch.int64,
    torch.bool,
]


def one(value):
    (found,) = checksums([value])
    return int(found)


def bits_of(value):
    """The integers that a tensor's bytes spell, from its bytes alone."""
    size = min(value.element_size(), 4)
    bytes_of = bytes(value.contiguous().reshape(-1).view(torch.uint8).tolist())
    return [
        int.from_bytes(bytes_of[place : place + size], "little", signed=size > 1)
        for place in range(0, len(bytes_of), size)
    ]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("size", [0, 1, 3, 32, 100])
def test_a_checksum_is_the_stated_sum(kind, size, monkeypatch):
    monkeypatch.setattr(tensor_checksums, "_BLOCK", block := 32)
    value = (10 * torch.randn(size)).to(kind)
    inner, outer = (_odd_numbers(seed, block, value.device).tolist() for seed in (0, 1))
    expected = sum(
        outer[place // block] * inner[place % block] * number for place, number in enumerate(bits_of(value))
    )
    assert (one(value) - expected) % 2**64 == 0
    assert all(number % 2 == 1 for number in inner + outer)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(data=st.data())
@settings(max_examples=examples(40))
def test_every_bit_counts(kind, data):
    value = torch.randn(7, 3).to(kind)
    before, bytes_of = one(value), value.view(-1).view(torch.uint8)
    place = data.draw(st.integers(0, len(bytes_of) - 1))
    bytes_of[place] ^= 1 if kind == torch.bool else 1 << data.draw(st.integers(0, 7))
    assert one(value) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.flip(0),
        lambda value: value.roll(1),
        lambda value: -value,
        lambda value: torch.cat([-value[:2], value[2:]]),
        lambda value: torch.cat([value[1:2], value[:1], value[2:]]),
    ],
    ids=["flipped", "rolled", "signs", "two signs", "two places"],
)
@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
def test_changes_that_cancel_in_plain_sums_are_seen(kind, change):
    value = torch.arange(1, 33).to(kind)
    assert one(change(value)) != one(value)


def test_other_layouts_are_read_by_their_values_and_not_numbers_are_themselves():
    value = torch.randn(5, 4)
    value[2, 1] = torch.nan
    assert one(value.T.contiguous().T) == one(value)
    assert one(value[:, ::2]) == one(value[:, ::2].clone())


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantized_numbers_have_a_checksum_too():
    values = [torch.quantize_per_tensor(torch.tensor([0.0, one]), 0.1, 0, torch.quint8) for one in (1.0, 2.0)]
    first, second = checksums(values)
    assert first != second
