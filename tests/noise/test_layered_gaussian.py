from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.noise.entropy import System
from discreet.noise.gaussian import tabulated_count
from discreet.noise.layered_gaussian import (
    LayeredDraws,
    Layers,
    RestAcceptance,
    layers_of,
    sample_layered_gaussian,
)
from noise.oracle import exp_minus, high, normal_tail, real, scaled
from noise.sources import Counting, Scripted
from noise.tables import check_every_entry, check_lazy_branch
from significance import FALSE_ALARM, fit_p_value

VARIANCES = [4096 + Fraction(1, 1000), Fraction(10**8), 2**49 + Fraction(1, 3), Fraction(2**80)]
DRAWS = 1_000_000
CELLS = 1 << 16


def blocks_of(layers: Layers) -> int:
    return tabulated_count(Fraction(1 << (2 * layers.shift)) / (2 * layers.variance))


def mass(layers: Layers, x: int):
    """P(J = x) = P(J = -1 - x), as a difference of tails of 2 X."""
    return normal_tail(layers.variance, Fraction(x)) - normal_tail(layers.variance, Fraction(x + 1))


def highest(layers: Layers, block: int):
    """2^16 B times the density of 2 X where a block begins."""
    start = block << layers.shift
    density = exp_minus(Fraction(start * start) / (2 * layers.variance))
    return density * (CELLS << layers.shift) / high.sqrt(2 * high.pi * real(layers.variance))


def some_blocks(layers: Layers) -> list[int]:
    reach = blocks_of(layers) - 1
    filled = sum(count > 0 for count in layers.counts)
    middle = np.random.default_rng(3).integers(0, filled, 5).tolist()
    return sorted({0, 1, filled - 1, filled, reach, *middle})


@pytest.mark.few(1)
@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):g}")
def test_every_entry_of_the_table_of_trials(variance):
    layers = layers_of(variance)
    count = blocks_of(layers)
    weights = [highest(layers, h) - layers.counts[h] for h in range(count)]
    beyond = sum(highest(layers, h) for h in range(count, 5 * count))
    total = 2 * (sum(weights) + beyond)
    values = [value for h in range(count) for value in (h << layers.shift, ~(h << layers.shift))]
    cuts = check_every_entry(
        layers.rest, lambda value: weights[max(value, ~value) >> layers.shift] / total, values, tail=True
    )
    inner = [cell for cell in range(layers.rest._items - 1) if layers.rest.alias(cell) != cell]
    check_lazy_branch(layers.rest, inner[7], cuts[inner[7]])


def check_layer(layers: Layers) -> None:
    width = 1 << layers.shift
    for block, count in enumerate(layers.counts):
        if count:
            assert count <= mass(layers, (block << layers.shift) + width - 1) * (CELLS * width)
    starts, counts = np.unique(layers.values[: layers.decided], return_counts=True)
    found = dict(zip(starts.tolist(), counts.tolist(), strict=True))
    expected = {}
    for block, count in enumerate(layers.counts):
        if count:
            expected[(block << layers.shift) + 1] = count
            expected[-((block + 1) << layers.shift) + 1] = count
    assert found == expected


@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):g}")
def test_the_layer_is_nowhere_above_the_law(variance):
    layers = layers_of(variance)
    check_layer(layers)
    assert 64 < high.sqrt(real(layers.variance)) / (1 << layers.shift) <= 128
    assert layers.decided == 2 * sum(layers.counts) > 0.98 * CELLS


@pytest.mark.parametrize(("block", "error"), [(0, ArithmeticError), (96, AssertionError)])
def test_a_layer_that_is_too_high_is_caught(monkeypatch, block, error):
    """Plant the bug: a block has one more cell than fits below its end."""
    exact = Layers._fitting

    def one_more(self):
        counts = exact(self)
        counts[block] += 1
        return counts

    monkeypatch.setattr(Layers, "_fitting", one_more)
    with pytest.raises(error):  # some trials would have a mass below 0
        check_layer(Layers(4 * Fraction(10**8)))


@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):g}")
def test_layer_and_rest_make_up_the_law(variance):
    """2^16 P(J) B = cells of the block + what trials propose and keep, at every place that is tried."""
    layers = layers_of(variance)
    width = 1 << layers.shift
    for block in some_blocks(layers):
        share = [real(Fraction(end, 1 << 200)) for end in layers.share(block, 200)]
        top = highest(layers, block)
        assert share[0] <= layers.counts[block] / top <= share[1] <= share[0] + high.ldexp(1, -198)
        shown = layers.shares(np.array([block << layers.shift]))[0]
        assert abs(shown - share[0]) < high.ldexp(1, -50)
        for offset in (0, width // 3, width - 1):
            x = (block << layers.shift) + offset
            average = mass(layers, x) * (CELLS * width) / top
            kept = (average - share[0]) / (1 - share[0])
            whole = layers.counts[block] + (top - layers.counts[block]) * kept
            assert abs(whole / (mass(layers, x) * (CELLS * width)) - 1) < high.ldexp(1, -150)
    assert layers.shares(np.array([10 * blocks_of(layers) << layers.shift])) == 0
    assert layers.share(10 * blocks_of(layers), 100) == (0, 0)


@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):g}")
def test_words_become_their_cell_and_offset(variance):
    layers = layers_of(variance)
    generator = np.random.default_rng(4)
    cells = [0, layers.decided // 2 - 1, layers.decided // 2, layers.decided - 1]
    offsets = [0, (1 << layers.shift) - 1, *generator.integers(0, 1 << layers.shift, 2).tolist()]
    between = (1 << (48 - layers.shift)) - 1  # bits that say nothing
    words = [c << 48 | between << layers.shift | offset for c in cells for offset in offsets]
    words += [c << 48 | offset for c in cells for offset in offsets]
    expected = [(int(layers.values[c]) + offset) >> 1 for _ in range(2) for c in cells for offset in offsets]
    draws = LayeredDraws(variance, len(words) + 2, System())
    draws._source = Scripted(words)
    assert draws.next(len(words)).tolist() == expected
    # All others are the rest: whatever the word, its lane is given the value of the next trial that was kept.
    kept = (draws._rest[:2] >> 1).tolist()
    draws._source = Scripted([layers.decided << 48, (CELLS - 1) << 48 | 5])
    assert draws.next(2).tolist() == kept


def check_cuts(layers: Layers) -> None:
    width = 1 << layers.shift
    for block in (*some_blocks(layers), 2 * blocks_of(layers)):
        start = block << layers.shift
        for offset in (0, width // 2, width - 1):
            top, x = highest(layers, block), start + offset
            share = (layers.counts[block] if block < blocks_of(layers) else 0) / top
            average = mass(layers, x) * (CELLS * width) / top
            cut = scaled((average - share) / (1 - share), 256)
            floor, rest = cut >> 192, (cut >> 128) & (2**64 - 1)
            for word, bits, kept in (
                (floor - 1, [], 1),
                (floor + 1, [], 0),
                (floor, [rest - 1], 1),
                (floor, [rest + 1], 0),
                (floor - (1 << 50), [], 1),
                (floor + (1 << 50), [], 0),
                (floor - (1 << 58), [], 1),
                (floor + (1 << 58), [], 0),
            ):
                if not all(0 <= each < 1 << 64 for each in (word, *bits)):
                    continue
                source = Scripted([word], bits)
                found = source.decide(RestAcceptance(layers, np.array([start]), np.array([offset])), 1)
                assert found.tolist() == [kept]
                assert source.spent


@pytest.mark.few(2)
@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):g}")
def test_a_trial_is_kept_exactly_below_its_cut(variance):
    check_cuts(layers_of(variance))


def test_trials_that_begin_below_the_layer_are_caught(monkeypatch):
    """Plant the bug: a trial is judged as if there were no layer."""
    layers = layers_of(Fraction(10**8))
    monkeypatch.setattr(Layers, "shares", lambda self, starts: np.zeros(len(starts)))
    with pytest.raises(AssertionError):
        check_cuts(layers)


def test_a_share_that_is_a_little_off_is_caught(monkeypatch):
    layers, exact = layers_of(Fraction(10**8)), Layers.share
    monkeypatch.setattr(
        Layers,
        "share",
        lambda self, block, bits: tuple(end + (1 << (bits - 60)) for end in exact(self, block, bits)),
    )
    with pytest.raises(AssertionError):
        check_cuts(layers)


def between(deviation: float):
    return lambda a, b: float(np.diff(stats.norm.cdf((np.array([a, b]) - 0.5) / deviation))[0])


@pytest.mark.few(3)
@pytest.mark.statistical
@pytest.mark.parametrize("deviation", [65, 100, 1000, 10**4, 2**24, 2**40])
def test_the_law(deviation):
    drawn = sample_layered_gaussian(Fraction(deviation) ** 2, DRAWS, System())
    width = max(1, deviation // 7)
    edges = np.arange(-5 * deviation // width, 5 * deviation // width + 1) * width
    assert fit_p_value(drawn, between(deviation), edges) > FALSE_ALARM
    assert fit_p_value(drawn, between(deviation * 1.05), edges) < FALSE_ALARM
    assert fit_p_value(drawn, between(deviation / 1.05), edges) < FALSE_ALARM


@pytest.mark.statistical
def test_the_law_of_the_rest():
    """What the layer leaves, bin by bin: far values are among it more often than in the whole law."""
    deviation = 2**24
    layers = layers_of(Fraction(deviation) ** 2)
    drawn = layers.draw_rest(200_000, System()) >> 1
    whole = 1 - layers.decided / CELLS
    edges = np.arange(-70, 71) * (deviation // 16)
    width = 1 << layers.shift

    def law(a: float, b: float) -> float:
        # The layer's part of an interval, cell by cell: J + 1 from values to values + width.
        begins = layers.values[: layers.decided]
        inside = np.clip(np.minimum(begins + width, 2 * b) - np.maximum(begins, 2 * a), 0, width)
        return max(0.0, between(deviation)(a, b) - float(inside.sum()) / (width * CELLS)) / whole

    assert fit_p_value(drawn, law, edges) > FALSE_ALARM
    assert fit_p_value(drawn, between(deviation), edges) < FALSE_ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("deviation", [100, 10**4, 2**30])
def test_low_bits_are_as_the_law_has_them(deviation):
    drawn = sample_layered_gaussian(Fraction(deviation) ** 2, DRAWS, System())
    assert stats.chisquare(np.bincount(drawn & 7, minlength=8)).pvalue > FALSE_ALARM


@pytest.mark.statistical
def test_neighbors_are_independent():
    drawn = sample_layered_gaussian(Fraction(2**48), DRAWS, System()).astype(float)
    found = np.corrcoef([drawn[:-1], drawn[1:]])[0, 1]
    squares = np.corrcoef([drawn[:-1] ** 2, drawn[1:] ** 2])[0, 1]
    limit = stats.norm.isf(FALSE_ALARM / 2) / DRAWS**0.5
    assert abs(found) < limit
    assert abs(squares) < limit


@pytest.mark.parametrize("size", [0, 1, 1000, 2**16, 2**16 + 1])
def test_the_work_is_that_of_the_size(size):
    variance, source = Fraction(10**8), Counting()
    trials = layers_of(variance).trials(size)
    for _ in range(3):
        before = source.drawn
        drawn = sample_layered_gaussian(variance, size, source)
        assert drawn.shape == (size,)
        assert drawn.dtype == np.int64
        assert source.drawn - before == size + 3 * trials


def test_trials_that_do_not_suffice_are_followed_by_more(monkeypatch):
    monkeypatch.setattr(Layers, "trials", lambda self, size: 2)
    layers = layers_of(Fraction(10**8))
    draws = LayeredDraws(Fraction(10**8), 100, System())
    draws._source = Scripted([(CELLS - 1) << 48] * 100, then=System())
    assert len(set(draws.next(100).tolist())) > 90
    assert layers.kept == pytest.approx(len(layers.draw_rest(50_000, System())) / 50_000, abs=0.02)


def test_narrow_laws_are_one_table():
    source = Counting()
    assert len(sample_layered_gaussian(Fraction(100), 7, source)) == 7
    assert source.drawn == 7


def test_a_vector_is_drawn_some_at_a_time():
    source = Counting()
    draws = LayeredDraws(Fraction(10**8), 1000, source)
    first = draws.next(600).copy()
    assert source.drawn == 600 + 3 * layers_of(Fraction(10**8)).trials(1000)
    assert not np.array_equal(first[:400], draws.next(400))
    for count in (1, -1, 2**17):
        with pytest.raises(ParameterError, match="count"):
            draws.next(count)
    assert len(draws.next(0)) == 0
