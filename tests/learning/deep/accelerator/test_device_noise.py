"""Noise of the kernel is that of the definition, word for word, with another implementation of the cipher."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.noise import current, replay
from discreet.noise.stacked_gaussian import MIDDLE, StackedGaussian, look_up_table

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
STACK = StackedGaussian(2**48)
LANES = 128


def words_of(key, stream, blocks):
    """The words of a stream, as the draws of each program take them: (three, draws)."""
    nonce = bytes(4) + stream.to_bytes(4, "little") + bytes(8)
    encryptor = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
    words = np.frombuffer(encryptor.update(bytes(64 * blocks)), "<u4").reshape(-1, LANES, 16)
    return words[:, :, :15].reshape(-1, LANES, 5, 3).transpose(3, 0, 2, 1).reshape(3, -1)


def expected_noise(key, count):
    blocks = -(-count // (5 * LANES)) * LANES
    streams = [words_of(key, stream, blocks) for stream in range(5)]
    total = np.zeros(streams[0].shape[1], np.int64)
    ties = 0
    for level, factor in enumerate((1, MIDDLE, STACK.multiplier)):
        more = iter(streams[1:])

        def next_words(places, level=level, more=more):
            nonlocal ties
            ties += len(places)
            return next(more)[level][places]

        total += factor * look_up_table().draw(streams[0][level].copy(), next_words)
    return total[:count], ties


def noise_with(key):
    noise = DeviceNoise(STACK, DEVICE)
    noise._key.copy_(torch.from_numpy(np.frombuffer(key, np.int32).copy()))
    return noise


@pytest.mark.parametrize("count", [1, 641])
def test_noise_is_added_to_the_nearest_integers(count):
    key = bytes(range(32))
    sums = torch.arange(count, device=DEVICE) * 2**33 // 77 - 2**39
    noise = noise_with(key)
    found = noise.release(sums, 6, 0.5).cpu().numpy()
    whole = ((sums.cpu().numpy() + 32) >> 6) + expected_noise(key, count)[0]
    assert np.array_equal(found, (whole * 0.5).astype(np.float32))
    assert not noise._key.any()  # the noise cannot be drawn again


def test_a_look_up_that_needs_more_words_gets_them():
    """A key is looked for under which one of the first draws is not decided by its first word."""
    key = next(
        key
        for key in (number.to_bytes(32, "little") for number in range(10_000))
        if expected_noise(key, 5 * LANES)[1]
    )
    found = noise_with(key).release(torch.zeros(5 * LANES, dtype=torch.int64, device=DEVICE), 1, 1.0)
    expected, _ = expected_noise(key, 5 * LANES)
    assert np.array_equal(found.cpu().numpy(), expected.astype(np.float32))


def test_every_step_has_a_key_of_its_own():
    noise, keys = DeviceNoise(STACK, DEVICE), set()
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
