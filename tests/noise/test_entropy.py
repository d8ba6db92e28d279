from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.noise import entropy, is_private, sample_laplace
from discreet.noise.entropy import Replay, Source, System, current, in_batches, replay, using
from noise.sources import Counting, Scripted
from significance import FALSE_ALARM

SIZES = [1, 3, 511, 512, 513, 1, 700, 2, 50_000, 200, 313, 512, 1, 1]


def all_different(arrays) -> bool:
    """Return whether no word occurs twice; by chance, 10^5 words do so once in 10^9 runs."""
    words = np.concatenate(arrays)
    return len(np.unique(words)) == len(words)


# The stream


def test_reads_of_any_size_are_fresh():
    source = System()
    read = [source.words(size) for size in SIZES * 2]
    assert [len(words) for words in read] == SIZES * 2
    assert all(words.dtype == np.uint64 for words in read)
    assert all_different(read)


def test_reading_nothing_changes_nothing():
    source = System()
    read = [source.words(size) for size in (0, 4, 0, 4, 0)]
    assert all_different(read)


def test_the_key_is_replaced_at_every_refill(monkeypatch):
    keys = []
    original = entropy._keystream

    def watched(key, size):
        keys.append(key)
        return original(key, size)

    monkeypatch.setattr(entropy, "_keystream", watched)
    source = System()
    for size in [1] * 5000 + [4097, 5000, 1]:
        source.words(size)
        assert source._key != keys[-1]
    assert len(keys) == len(set(keys)) == 2 + 2
    assert all(len(key) == 48 for key in keys)


def test_the_next_key_is_not_among_the_words():
    key = os.urandom(48)
    next_key, words = entropy._keystream(key, 1000)
    assert next_key not in words.tobytes()
    assert next_key != key


def test_chunks_continue_one_stream(monkeypatch):
    key = os.urandom(48)
    _, whole = entropy._keystream(key, 5000)
    monkeypatch.setattr(entropy, "_ZEROS", bytes(8 * 64))
    _, pieces = entropy._keystream(key, 5000)
    assert whole.tolist() == pieces.tolist()


def test_used_words_are_erased():
    source = System()
    source.words(5)
    first = source._buffer.copy()
    assert not first[:5].any()
    read = source.words(7)
    assert read.tolist() == first[5:12].tolist()
    assert not source._buffer[:12].any()
    assert source._buffer[12:].tolist() == first[12:].tolist()
    read[:] = 1  # what the caller does with the words stays with the caller
    assert source._buffer[12:].tolist() == first[12:].tolist()


def test_bits_are_whole_words():
    assert Scripted([1, 2]).bits(128) == int.from_bytes(np.array([1, 2], np.uint64).tobytes(), "big")
    drawn = [System().bits(192) for _ in range(50)]
    assert len(set(drawn)) == 50
    assert max(drawn).bit_length() > 180


@pytest.mark.statistical
def test_every_bit_is_balanced_and_independent_of_its_neighbor():
    words = System().words(200_000)
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 64)
    for column in range(64):
        ones = int(bits[:, column].sum())
        assert stats.binomtest(ones, len(words), 0.5).pvalue > FALSE_ALARM / 64
    flat = bits.ravel()
    changes = int((flat[1:] != flat[:-1]).sum())
    assert stats.binomtest(changes, len(flat) - 1, 0.5).pvalue > FALSE_ALARM
    counts = np.bincount(words.view(np.uint8), minlength=256)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


# Which source is in use


def test_using_restores_what_was_there_before():
    before = current()
    outer, inner = Replay(1), Replay(2)
    with using(outer) as given:
        assert given is outer
        assert current() is outer
        with suppress(RuntimeError), using(inner):
            assert current() is inner
            raise RuntimeError
        assert current() is outer
    assert current() is before


def test_an_override_stays_in_its_thread():
    with replay(1), ThreadPoolExecutor(1) as pool:
        assert isinstance(pool.submit(current).result(), System)


def test_replay_repeats():
    with replay(5) as first:
        a = [current().words(size) for size in SIZES]
    with replay(5) as second:
        b = [current().words(size) for size in SIZES]
    assert first is not second
    assert all((x == y).all() for x, y in zip(a, b, strict=True))
    assert all_different(a)
    with replay(6):
        assert current().words(1) != a[0]


def test_replayed_noise_repeats_and_is_marked():
    drawn = []
    for _ in range(2):
        with replay(11) as source:
            drawn.append(source.mark(sample_laplace(Fraction(10), 5, source)))
    assert drawn[0].tolist() == drawn[1].tolist()
    assert not is_private(drawn[0])


def test_results_of_the_system_are_not_marked():
    result = np.arange(3)
    assert System().mark(result) is result
    assert is_private(System().mark((1, 2.0, result)))


def test_results_of_any_other_source_are_marked():
    class Mine(Source):
        def words(self, size):
            return np.zeros(size, np.uint64)

    for source in (Mine(), Counting(), Scripted(), Replay(0)):
        assert not is_private(source.mark(3))


# Batches


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**16, 2**16 + 1, 3 * 2**16])
def test_batches_fill_every_lane_in_order(size):
    counts = []

    def draw(count):
        start = sum(counts)
        counts.append(count)
        return np.arange(start, start + count)

    assert in_batches(draw, size).tolist() == list(range(size))
    assert max(counts) <= 2**16


@pytest.mark.parametrize("size", [0, 5, 2**17, 2**17 + 1, 2**18 + 7])
def test_decisions_see_every_lane_once(size):
    class Lanes:
        blocks = 1

        def outcomes(self, words, lane, source):
            del source
            return np.arange(lane, lane + len(words))

    source = Counting()
    assert source.decide(Lanes(), size).tolist() == list(range(size))
    assert source.drawn == size
