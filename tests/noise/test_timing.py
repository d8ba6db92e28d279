"""What the work of a draw tells about its result: nothing."""

from __future__ import annotations

from fractions import Fraction
from time import perf_counter_ns

import numpy as np
import pytest
from scipy import stats

from discreet.noise import gaussian
from discreet.noise.entropy import System
from discreet.noise.gaussian import Acceptance, sample_gaussian
from discreet.noise.laplace import sample_laplace
from discreet.noise.rounded_gaussian import CellAcceptance, sample_rounded_gaussian
from effort import sizes
from noise.oracle import textbook_gaussian, textbook_laplace
from significance import FALSE_ALARM

DRAWS = sizes(10_000, 100_000)
DEVIATIONS = stats.norm.isf(FALSE_ALARM / 2) + 0.1


def largest_correlation(draws: int) -> float:
    """Return what no correlation of independent ranks exceeds but with `FALSE_ALARM`."""
    return DEVIATIONS / draws**0.5


def correlation(draw, draws: int) -> float:
    """Return Spearman's correlation of the time of a draw with the magnitude of what is drawn."""
    draw()
    times, magnitudes = np.empty(draws), np.empty(draws)
    for index in range(draws):
        start = perf_counter_ns()
        value = draw()
        times[index] = perf_counter_ns() - start
        magnitudes[index] = abs(int(value))
    return float(stats.spearmanr(times, magnitudes).statistic)


@pytest.mark.statistical
@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("scale", [1, 10, 10**4])
def test_the_time_of_a_laplace_draw_says_nothing(scale, draws):
    source = System()
    assert abs(correlation(lambda: sample_laplace(scale, 1, source)[0], draws)) < largest_correlation(draws)


@pytest.mark.statistical
@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("deviation", [1, 10, 10**4])
def test_the_time_of_a_gaussian_draw_says_nothing(deviation, draws):
    source = System()
    found = correlation(lambda: sample_gaussian(deviation**2, 1, source)[0], draws)
    assert abs(found) < largest_correlation(draws)


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("scale", [1, 10, 10**4])
def test_the_textbook_samplers_fail_the_same_check(scale):
    assert correlation(lambda: textbook_laplace(Fraction(scale)), 10_000) > largest_correlation(10_000)
    assert correlation(lambda: textbook_gaussian(Fraction(scale) ** 2), 10_000) > largest_correlation(10_000)


class Watching(System):
    """Remembers which candidates were rejected at the first trial."""

    def __init__(self) -> None:
        super().__init__()
        self.rejected: list[np.ndarray] = []

    def decide(self, decision, size):
        outcomes = super().decide(decision, size)
        if isinstance(decision, Acceptance | CellAcceptance) and size == 1 << 16:
            self.rejected.append(outcomes == 0)
        return outcomes


def trial_and_result_p_value(variance: Fraction, sampler) -> float:
    """Test whether a lane's first rejection is independent of sign and magnitude of its result."""
    source, counts = Watching(), np.zeros((2, 40))
    for _ in range(24):
        drawn = sampler(variance, 1 << 16, source)
        scaled = np.clip(np.floor(drawn / float(variance) ** 0.5 * 5), -20, 19).astype(int) + 20
        np.add.at(counts, (source.rejected[-1].astype(int), scaled), 1)
    kept = (counts.sum(axis=0) * counts[1].sum() / counts.sum()) > 5
    return float(stats.chi2_contingency(counts[:, kept]).pvalue)


@pytest.mark.few(2)
@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(4097), Fraction(10**8)], ids=str)
@pytest.mark.parametrize("sampler", [sample_gaussian, sample_rounded_gaussian])
def test_the_number_of_trials_is_independent_of_the_result(variance, sampler):
    assert trial_and_result_p_value(variance, sampler) > FALSE_ALARM


@pytest.mark.statistical
def test_trials_that_keep_their_block_are_caught():
    """Plant the bug: after a rejection only the offset is drawn again."""

    def keeping(variance, size, source):
        shift = gaussian.low_bits(variance)
        blocks = source.decide(gaussian.block_table(variance, shift), size)
        signs = blocks >> 63
        drawn, open_lanes = np.empty(size, np.int64), np.arange(size)
        while open_lanes.size:
            offsets = source.decide(gaussian.UniformBits(shift), open_lanes.size)
            these = blocks[open_lanes]
            acceptance = Acceptance(these ^ signs[open_lanes], offsets - signs[open_lanes], variance)
            kept = source.decide(acceptance, open_lanes.size) == 1
            drawn[open_lanes[kept]] = (these ^ offsets)[kept]
            open_lanes = open_lanes[~kept]
        return drawn

    assert trial_and_result_p_value(Fraction(4097), keeping) < FALSE_ALARM
