"""Noise of the kernel is that of the definition, word for word, with another implementation of the cipher."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from discreet.learning.deep.accelerator.device_noise import DeviceNoise, blocks_for
from discreet.noise import current, replay
from discreet.noise.stacked_gaussian import CELLS, FACTOR, look_up_table

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LANES = 128
KEY = bytes(range(32))


def words_of(key, stream, first, blocks):
    """The words of a stream from a block on, as the draws of each program take them: (two, draws)."""
    nonce = first.to_bytes(4, "little") + stream.to_bytes(4, "little") + bytes(8)
    encryptor = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
    words = np.frombuffer(encryptor.update(bytes(64 * blocks)), "<u4").reshape(-1, LANES, 8, 2)
    return words.transpose(3, 0, 2, 1).reshape(2, -1)


def expected_noise(key, count, first=0, table=None):
    streams = [words_of(key, stream, first, blocks_for(count)) for stream in range(5)]
    total = np.zeros(streams[0].shape[1], np.int64)
    asked = [0, 0]  # once, and more than once
    for level, factor in enumerate((1, FACTOR)):
        more, times = iter(streams[1:]), iter((0, 1, 1, 1))

        def next_words(places, level=level, more=more, times=times):
            asked[next(times)] += len(places)
            return next(more)[level][places]

        total += factor * (table or look_up_table()).draw(streams[0][level].copy(), next_words)
    return total[:count], asked


def noise_with(key):
    noise = DeviceNoise(DEVICE)
    noise._key.copy_(torch.from_numpy(np.frombuffer(key, np.int32).copy()))
    return noise


def released(noise, sums, shift=6, scale=0.5):
    out = torch.empty(sums.numel(), device=DEVICE)
    noise.release(sums, out, shift, scale)
    return out.cpu().numpy()


@pytest.mark.parametrize("count", [1, 1025])
def test_noise_is_added_to_the_nearest_integers(count):
    sums = torch.arange(count, device=DEVICE) * 2**31 // 77 - 2**34
    noise = noise_with(KEY)
    whole = ((sums.cpu().numpy() + 32) >> 6) + expected_noise(KEY, count)[0]
    assert np.array_equal(released(noise, sums), (whole * 0.5).astype(np.float32))
    noise.forget()
    assert not noise._key.any()  # the noise cannot be drawn again


def test_sums_in_grid_steps_get_the_same_noise():
    steps = torch.arange(-700, 700, device=DEVICE, dtype=torch.int32)
    assert np.array_equal(released(noise_with(KEY), steps), released(noise_with(KEY), steps.long() << 6))


def test_what_is_released_later_has_other_blocks_until_a_new_key():
    noise, zeros = noise_with(KEY), torch.zeros(1025, dtype=torch.int32, device=DEVICE)
    first, second = released(noise, zeros, scale=1.0), released(noise, zeros, scale=1.0)
    assert np.array_equal(first, expected_noise(KEY, 1025)[0].astype(np.float32))
    assert np.array_equal(second, expected_noise(KEY, 1025, 2 * LANES)[0].astype(np.float32))
    noise.forget()
    assert noise._first == 0


def test_a_key_is_for_so_many_blocks():
    noise = noise_with(KEY)
    noise._first = 2**32 - LANES
    released(noise, torch.zeros(1024, dtype=torch.int32, device=DEVICE))
    with pytest.raises(OverflowError, match="one key"):
        released(noise, torch.zeros(1, dtype=torch.int32, device=DEVICE))


def test_long_sums_are_not_cut_off():
    sums = torch.tensor([2**50, -(2**50), 0], device=DEVICE)
    expected = np.array([2**44, -(2**44), 0]) + expected_noise(KEY, 3)[0]
    assert np.array_equal(released(noise_with(KEY), sums), (expected * 0.5).astype(np.float32))


def test_nothing_is_released_of_nothing():
    noise = noise_with(KEY)
    assert len(released(noise, torch.zeros(0, dtype=torch.int64, device=DEVICE))) == 0
    assert noise._first == 0


def test_a_look_up_that_needs_more_words_gets_them():
    """A key is looked for under which one of the first draws is not decided by its first word."""
    key = next(
        key
        for key in (number.to_bytes(32, "little") for number in range(10_000))
        if expected_noise(key, 8 * LANES)[1][0]
    )
    found = released(noise_with(key), torch.zeros(8 * LANES, dtype=torch.int32, device=DEVICE), scale=1.0)
    assert np.array_equal(found, expected_noise(key, 8 * LANES)[0].astype(np.float32))


def test_a_look_up_that_needs_many_more_words_gets_them():
    """Digits are planted that tie, as they do once in 2^47 draws: in every cell, those of the next words."""
    table = look_up_table()
    streams = [words_of(KEY, stream, 0, blocks_for(1)) for stream in range(5)]
    cells = (streams[0] >> 16).astype(np.int64).reshape(-1)
    entries, digits = table.entries.copy(), table.digits.copy()
    position = (streams[0].reshape(-1) >> 1) & 0x7FFF
    entries[cells] = position << 16 | (entries[cells] & (CELLS - 1))
    digits[cells, 0], digits[cells, 1] = streams[1].reshape(-1), streams[2].reshape(-1)
    planted = type(table)(entries, digits)
    noise = noise_with(KEY)
    noise._entries = torch.from_numpy(entries.view("int32")).to(DEVICE)
    noise._digits = torch.from_numpy(digits.view("int32")).to(DEVICE)
    expected, asked = expected_noise(KEY, 8 * LANES, table=planted)
    assert asked[1] > 1000
    found = released(noise, torch.zeros(8 * LANES, dtype=torch.int32, device=DEVICE), scale=1.0)
    assert np.array_equal(found, expected.astype(np.float32))


def test_every_step_has_a_key_of_its_own():
    noise, keys = DeviceNoise(DEVICE), set()
    for _ in range(5):
        noise.renew(current())
        keys.add(noise._key.cpu().numpy().tobytes())
    assert len(keys) == 5
    with replay(3):
        noise.renew(current())
        first = noise._key.cpu()
    with replay(3):
        noise.renew(current())
    assert torch.equal(first, noise._key.cpu())
