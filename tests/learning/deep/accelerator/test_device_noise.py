"""Noise of the kernels is that of the definition, word for word, with another cipher and in exact numbers."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from scipy import stats

from discreet.learning.deep.accelerator import device_noise
from discreet.learning.deep.accelerator.device_noise import DeviceNoise, blocks_for
from discreet.learning.deep.accelerator.noisy_sums import NOT_DRAWN
from discreet.noise import current, replay
from discreet.noise.one_word_gaussian import CUT_BITS, noise_tables
from significance import FALSE_ALARM

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LANES, DRAWS = 128, 16
PROGRAM = LANES * DRAWS
KEY = bytes(range(32))


def words_of(key, block, count, stream=0, turn=0):
    """The words of some blocks of the cipher."""
    nonce = b"".join(number.to_bytes(4, "little") for number in (block, stream, turn, 0))
    encryptor = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
    return np.frombuffer(encryptor.update(bytes(64 * count)), "<u4")


def share(block, tables):
    """The part of a block's first probability that its cells have."""
    cells = int(np.count_nonzero(tables.blocks[: tables.decided] == block))
    half = mpmath.mpf(2 * (block << 16) + 1)
    return cells * mpmath.sqrt(2 * mpmath.pi * 2**46) * mpmath.exp(half * half / 2**49) / 2**32


def trial(words, more, last, tables):
    """A candidate, or None if it is not accepted: with all bits at once, and exact."""
    one, two, three, four = (int(word) for word in words)
    position, cut = (one & 0xFFFFF) << 16 | (two & 0xFFFF), int(tables.cuts[one >> 21, 0])
    for word in more:
        position = position << 32 | int(word)
    for limb in tables.cuts[one >> 21, 1:]:
        cut = cut << 64 | int(limb)
    block = one >> 21 if position < cut else int(tables.others[one >> 21])
    magnitude = block << 16 | two >> 16
    with mpmath.workprec(300):
        low = (int(last[0]) << 32 | int(last[1])) >> 2
        uniform = mpmath.mpf((three << 32 | four) >> 2 << 62 | low) / 2**124
        odd, first = 2 * magnitude + 1, 2 * (block << 16) + 1
        power = mpmath.exp(-mpmath.mpf(odd * odd - first * first) / 2**49)
        part = share(block, tables)
        if part + (1 - part) * uniform >= power:
            return None
    return ~magnitude if one >> 20 & 1 else magnitude


def rest_draw(key, block, place, tables):
    for turn in range(64):
        words, more, last = (words_of(key, block, 1, stream + place, turn) for stream in (1, 17, 33))
        for given in zip(words.reshape(4, 4), more.reshape(4, 4), last.reshape(4, 4), strict=True):
            found = trial(*given, tables)
            if found is not None:
                return found
    raise AssertionError("no trial was accepted")


def expected_noise(key, count, first=0, tables=None):
    tables = noise_tables() if tables is None else tables
    blocks = blocks_for(count)
    words = words_of(key, first, blocks).reshape(-1, LANES, DRAWS).transpose(0, 2, 1).reshape(-1)
    cells = (words >> 16).astype(np.int64)
    drawn = (tables.blocks[cells].astype(np.int64) << 16) + (words & 0xFFFF)
    rest = [int(place) for place in np.flatnonzero(cells >= tables.decided) if place < count]
    for number in rest:
        program, inside = divmod(number, PROGRAM)
        place, lane = divmod(inside, LANES)
        drawn[number] = rest_draw(key, first + program * LANES + lane, place, tables)
    return drawn[:count], rest


def noise_with(key):
    noise = DeviceNoise(DEVICE)
    noise._key.copy_(torch.from_numpy(np.frombuffer(key, np.int32).copy()))
    return noise


def drawn_by(noise, count):
    return noise.draw(count).cpu().numpy()


@pytest.mark.parametrize("count", [1, PROGRAM + 1])
def test_noise_is_that_of_the_words_of_the_cipher(count):
    noise = noise_with(KEY)
    assert np.array_equal(drawn_by(noise, count), expected_noise(KEY, count)[0])
    noise.forget()
    assert not noise._key.any()  # the noise cannot be drawn again


def test_a_word_in_ninety_is_of_the_rest_and_drawn_by_trials():
    expected, rest = expected_noise(KEY, 2 * PROGRAM)
    assert 20 < len(rest) < 80
    assert np.array_equal(drawn_by(noise_with(KEY), 2 * PROGRAM), expected)


def test_what_is_of_the_rest_is_not_drawn_before_its_trials(monkeypatch):
    """What the first program leaves to the second is marked, so that no sum is released there."""
    _, rest = expected_noise(KEY, PROGRAM)
    monkeypatch.setattr(device_noise, "draw_rest", Nothing())
    assert np.flatnonzero(drawn_by(noise_with(KEY), PROGRAM) == NOT_DRAWN).tolist() == rest


class Nothing:
    """A program that does nothing."""

    def __getitem__(self, grid):
        return lambda *given, **options: None


def in_doubt(monkeypatch, margin):
    """Let so many units more be in doubt when the rest is drawn."""
    kernel = device_noise.draw_rest

    class Doubting:
        def __getitem__(self, grid):
            return lambda *given, **options: kernel[grid](*given, **options, margin=margin)

    monkeypatch.setattr(device_noise, "draw_rest", Doubting())


@pytest.mark.parametrize("margin", [2**61, 2**57])
def test_twice_as_many_bits_decide_the_same(margin, monkeypatch):
    """What is in doubt once in 2^56 trials is made usual: all trials, or some of them, are decided so."""
    in_doubt(monkeypatch, margin)
    expected, _ = expected_noise(KEY, PROGRAM)
    assert np.array_equal(drawn_by(noise_with(KEY), PROGRAM), expected)


@pytest.mark.parametrize("more_bits", [0, 64, 128])
@pytest.mark.parametrize("above", [0, 1])
def test_a_position_that_is_the_cut_is_decided_by_more_words(more_bits, above):
    """Cut points are planted that tie with the first trial of each draw: to 36 bits, to 100, or to all."""
    _, rest = expected_noise(KEY, PROGRAM)
    cuts = noise_tables().cuts.copy()
    for number in rest:
        place, lane = divmod(number, LANES)
        one, two = (int(word) for word in words_of(KEY, lane, 1, 1 + place)[:2])
        more = words_of(KEY, lane, 1, 17 + place)[:4]
        digits = sum(int(word) << 32 * (3 - i) for i, word in enumerate(more))
        digits = digits >> 128 - more_bits << 128 - more_bits | above << max(0, 127 - more_bits)
        cuts[one >> 21] = (one & 0xFFFFF) << 16 | (two & 0xFFFF), digits >> 64, digits & (2**64 - 1)
    usual = noise_tables()
    planted = type(usual)(usual.blocks, usual.decided, usual.others, cuts, usual.shares, usual.powers)
    expected, again = expected_noise(KEY, PROGRAM, tables=planted)
    assert again == rest
    noise = noise_with(KEY)
    noise._cuts = torch.from_numpy(cuts.view("int64")).to(DEVICE)
    assert np.array_equal(drawn_by(noise, PROGRAM), expected)


def test_a_candidate_on_the_edge_is_decided_by_all_bits():
    """A share is planted with which the level of a candidate is its power, but for the last bits of 124."""
    _, rest = expected_noise(KEY, PROGRAM)
    usual = noise_tables()
    place, lane = divmod(rest[0], LANES)
    words, last = words_of(KEY, lane, 1, 1 + place), words_of(KEY, lane, 1, 33 + place)
    one, two, three, four = (int(word) for word in words[:4])
    position = (one & 0xFFFFF) << 16 | (two & 0xFFFF)
    block = one >> 21 if position < int(usual.cuts[one >> 21, 0]) else int(usual.others[one >> 21])
    uniform = (three << 32 | four) >> 2 << 62 | (int(last[0]) << 32 | int(last[1])) >> 2
    odd, first = 2 * (block << 16 | two >> 16) + 1, 2 * (block << 16) + 1
    with mpmath.workprec(400):
        power = mpmath.exp(-mpmath.mpf(odd * odd - first * first) / 2**49)
        level = mpmath.mpf(uniform) / 2**124
        edge = int(mpmath.floor((power - level) / (1 - level) * 2**124))
    found = []
    for part in (edge - 2**12, edge + 2**12):
        shares = usual.shares.copy()
        shares[block] = part >> 62, part & (2**62 - 1)
        noise = noise_with(KEY)
        noise._shares = torch.from_numpy(shares.view("int64")).to(DEVICE)
        found.append(drawn_by(noise, PROGRAM)[rest[0]])
    magnitude = block << 16 | two >> 16
    candidate = ~magnitude if one >> 20 & 1 else magnitude
    assert found[0] == candidate
    assert found[1] != candidate


def test_what_is_drawn_later_has_other_blocks_until_a_new_key():
    noise = noise_with(KEY)
    first, second = (drawn_by(noise, PROGRAM + 1) for _ in range(2))
    assert np.array_equal(first, expected_noise(KEY, PROGRAM + 1)[0])
    assert np.array_equal(second, expected_noise(KEY, PROGRAM + 1, 2 * LANES)[0])
    noise.forget()
    assert noise._first == 0


def test_a_key_is_for_so_many_blocks():
    noise = noise_with(KEY)
    noise._first = 2**32 - LANES
    drawn_by(noise, PROGRAM)
    with pytest.raises(OverflowError, match="one key"):
        drawn_by(noise, 1)


def test_nothing_is_drawn_for_nothing():
    noise = noise_with(KEY)
    assert len(drawn_by(noise, 0)) == 0
    assert noise._first == 0


def added_by(noise, steps, scale=0.25):
    place = torch.tensor(steps, dtype=torch.int32, device=DEVICE)
    noise.add_to(place, scale)
    return place.view(torch.float32).cpu().numpy()


def with_noise(steps, drawn, scale=0.25):
    """Steps plus noise, and the half of its law, as floats: what these do not hold is rounded."""
    return (
        (np.array(steps) + drawn).astype(np.float32) * np.float32(scale) + np.float32(0.5 * scale)
    ).astype(np.float32)


@pytest.mark.parametrize("count", [1, 700, PROGRAM + 1])
def test_noise_that_is_added_is_that_of_the_words_of_the_cipher(count):
    """To sums of all sizes, where it is looked up and where it is of the rest."""
    sums = (np.arange(count) * 99_991 % 2**31 - 2**30).tolist()
    expected, rest = expected_noise(KEY, count)
    noise = noise_with(KEY)
    assert np.array_equal(added_by(noise, sums), with_noise(sums, expected))
    assert len(rest) > 0 or count == 1
    assert noise._first == blocks_for(count)
    later = added_by(noise, sums)
    assert np.array_equal(later, with_noise(sums, expected_noise(KEY, count, blocks_for(count))[0]))


def test_what_is_of_the_rest_is_not_noisy_before_its_trials(monkeypatch):
    """What the first program leaves to the second is the sum: so the second must not be left out."""
    sums = list(range(PROGRAM))
    _, rest = expected_noise(KEY, PROGRAM)
    monkeypatch.setattr(device_noise, "add_rest", Nothing())
    left = added_by(noise_with(KEY), sums).view(np.int32)
    assert np.flatnonzero(left == np.arange(PROGRAM)).tolist() == rest


def test_nothing_is_added_to_nothing():
    noise = noise_with(KEY)
    assert len(added_by(noise, [])) == 0
    assert noise._first == 0


@pytest.mark.statistical
def test_draws_have_the_law_and_the_rest_its_own():
    count = 20 * PROGRAM
    drawn = drawn_by(noise_with(KEY), count) * 2.0**-23
    edges = stats.norm.ppf(np.linspace(0, 1, 65))
    assert stats.chisquare(np.histogram(drawn, edges)[0]).pvalue > FALSE_ALARM
    words = words_of(KEY, 0, blocks_for(count)).reshape(-1, LANES, DRAWS).transpose(0, 2, 1).reshape(-1)
    tables = noise_tables()
    rest = drawn[words >> 16 >= tables.decided]
    cells = np.bincount(tables.blocks[: tables.decided].clip(min=-600) + 600, minlength=1201)
    borders = np.arange(-600, 602) / 128
    masses = np.diff(stats.norm.cdf(borders)) - cells / 2**16
    groups = np.array_split(np.arange(1201), 12)
    counts = np.histogram(rest, borders)[0]
    expected = np.array([masses[group].sum() for group in groups])
    seen = np.array([counts[group].sum() for group in groups])
    assert stats.chisquare(seen, expected / expected.sum() * seen.sum()).pvalue > FALSE_ALARM


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


def test_cut_points_have_36_bits_at_first():
    assert int(noise_tables().cuts[:, 0].max()).bit_length() <= CUT_BITS


@pytest.mark.parametrize("above", [0, 1])
def test_the_first_word_of_the_rest_is_where_its_cells_begin(above):
    """A limit is planted that is a word, or one more: it is of the rest, or looked up."""
    assert noise_with(KEY)._limit == noise_tables().decided << 16
    noise, word = noise_with(KEY), int(words_of(KEY, 0, 1)[0])
    assert word >> 16 < noise_tables().decided
    noise._limit = word + above
    looked_up = (int(noise_tables().blocks[word >> 16]) << 16) + (word & 0xFFFF)
    expected = looked_up if above else rest_draw(KEY, 0, 0, noise_tables())
    assert drawn_by(noise, 1)[0] == expected


def test_a_key_is_all_that_was_drawn_for_it():
    noise = DeviceNoise(DEVICE)
    with replay(3):
        noise.renew(current())
    with replay(3):
        words = current().words(4)
    assert noise._key.cpu().numpy().tobytes() == words.tobytes()
    assert len(set(noise._key.tolist())) == 8
