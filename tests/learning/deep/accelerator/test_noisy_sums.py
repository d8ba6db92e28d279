"""Sums on the grid of the noise: rounded, cut off where they must be, and never without noise."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from discreet.learning.deep.accelerator.noisy_sums import LARGEST, NOT_DRAWN, in_steps, release_sums

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def released(noise, sums, shift=6, scale=0.5):
    place = torch.tensor(noise, dtype=torch.int32, device=DEVICE)
    release_sums(place, torch.tensor(sums, dtype=torch.int64, device=DEVICE), shift, scale)
    return place.view(torch.float32).cpu()


def test_noise_is_added_to_the_nearest_integers():
    sums = [value * 2**31 // 77 - 2**34 for value in range(1500)]
    noise = [3 * value - 1000 for value in range(1500)]
    whole = torch.tensor([((value + 32) >> 6) + other for value, other in zip(sums, noise, strict=True)])
    assert torch.equal(released(noise, sums), whole.float() * 0.5 + 0.25)


def test_long_sums_are_not_cut_off():
    found = released([5, -5, 7], [2**50, -(2**50), 0])
    assert torch.equal(found, torch.tensor([2**44 + 5, -(2**44) - 5, 7]).float() * 0.5 + 0.25)


def test_no_sum_is_released_where_no_noise_was_drawn():
    assert released([NOT_DRAWN, 1], [2**40, 2**40]).tolist() == [0.0, 2.0**33]


def test_no_more_is_written_than_there_are_sums():
    place = torch.full((9,), 77, dtype=torch.int32, device=DEVICE)
    release_sums(place, torch.zeros(5, dtype=torch.int64, device=DEVICE), 1, 1.0)
    release_sums(place, torch.zeros(0, dtype=torch.int64, device=DEVICE), 1, 1.0)
    assert (place[5:] == 77).all()
    assert (place[:5].view(torch.float32) == 77.5).all()


@triton.jit
def _steps(sums, out, unit, shift, count: tl.constexpr):
    place = tl.arange(0, count)
    tl.store(out + place, in_steps(tl.load(sums + place), unit, shift))


@pytest.mark.parametrize(("unit", "shift"), [(8, 5), (8, 7), (8, 8), (8, 9), (8, 16), (0, 1)])
def test_steps_are_rounded_and_cut_off(unit, shift):
    edge = LARGEST >> max(unit - shift, 0)
    values = [
        0,
        1,
        -1,
        127,
        128,
        -128,
        -129,
        edge - 1,
        edge,
        edge + 1,
        -edge - 1,
        2**31 - 1,
        -(2**31),
        5,
        6,
        7,
    ]
    sums = torch.tensor(values, dtype=torch.int64).clamp(-(2**31), 2**31 - 1).to(DEVICE, torch.int32)
    found = torch.empty_like(sums)
    _steps[(1,)](sums, found, unit, shift, count=16)
    expected = ((sums.cpu().long() << unit) + (1 << shift >> 1) >> shift).clamp(-LARGEST, LARGEST)
    assert found.cpu().long().tolist() == expected.tolist()
