from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.mutants import FloatLaplace, LeavesItsGrid, TooFineGaussian
from audit.right import GridLaplace, IntegerLaplace
from discreet.audit.precision import (
    check_precision,
    lowest_bit,
    off_grid,
    trailing_zeros,
    two_sample_p_value,
)
from discreet.audit.samples import collect, draw
from effort import sizes
from significance import FALSE_ALARM

COUNT = 20_000


def check(mechanism, pairs=((0.0, 1.0),), count=COUNT):
    samples = [tuple(draw(mechanism, x, count) for x in pair) for pair in pairs]
    return check_precision(mechanism, samples, FALSE_ALARM)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_bits_are_those_of_the_exact_fraction(value):
    [lowest], [zeros] = lowest_bit(np.array([value])), trailing_zeros(np.array([value]))
    if value == 0:
        assert (lowest, zeros) == (2000, 53)
        return
    odd = abs(Fraction(value)) / Fraction(2) ** int(lowest)
    assert odd.denominator == 1
    assert odd.numerator % 2 == 1
    assert zeros == 53 - odd.numerator.bit_length()


@given(st.lists(st.integers(-(2**30), 2**30), min_size=1), st.integers(-40, 40), st.integers(-45, 45))
def test_multiples_of_the_grid_are_counted_exactly(steps, exponent, tried):
    values = np.ldexp(np.array(steps, float), exponent)
    grid = Fraction(2) ** tried
    assert off_grid(values, grid) == sum((Fraction(value) / grid).denominator > 1 for value in values)


class Silent:
    """Says nothing about its grid, so that only the marks can acquit it."""

    def __init__(self, mechanism):
        self.release = mechanism.release


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("grid", sizes(Fraction(1, 1 << 16), Fraction(1, 1 << 40), Fraction(1, 4)))
def test_a_public_grid_passes(grid):
    mechanism = GridLaplace(grid)
    assert check(mechanism, ((0.0, 1.0), (0.1, 1.1)), count=3000).verdict == "passed"
    assert check(Silent(mechanism), count=3000).verdict == "passed"


class RoundedReal:
    """Real noise, rounded once: drawn with 64 bits of precision, which stand for infinitely many."""

    def release(self, value):
        uniform = np.longdouble(np.random.default_rng().integers(1, 2**63)) / np.longdouble(2**63)
        sign = np.random.default_rng().integers(2) * 2 - 1
        return float(np.longdouble(value) + sign * np.log(uniform))


@pytest.mark.statistical
def test_real_noise_that_is_rounded_once_passes():
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("long doubles are no longer than doubles here")
    assert check(RoundedReal(), count=5000).verdict == "passed"


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", [FloatLaplace(), TooFineGaussian()])
def test_float_noise_fails(mechanism):
    finding = check(mechanism)
    assert finding.verdict == "failed"
    assert finding.false_alarm == FALSE_ALARM


@pytest.mark.statistical
def test_leaving_a_stated_grid_fails_without_a_doubt():
    finding = check(LeavesItsGrid(), ((0.1, 1.1),), count=1000)
    assert finding.verdict == "failed"
    assert finding.false_alarm == 0


@pytest.mark.statistical
def test_inputs_of_all_magnitudes_are_tried_against_a_stated_grid():
    class Unrounded(GridLaplace):
        def release(self, value):
            return value if value == 5e-324 else super().release(value)

    assert check(Unrounded(), count=1000).verdict == "failed"


def test_candidates_are_no_low_order_bits():
    """A choice between two floats may favor either by as much as the claim allows."""
    first, second = collect([0.1, 0.25, 0.1] * 1000), collect([0.1, 0.25, 0.25] * 1000)
    assert check_precision(object(), [(first, second)], FALSE_ALARM).verdict == "passed"


def test_integers_and_labels_have_no_low_order_bits():
    for outputs in ([1, 2], ["a", "b"]):
        sample = collect(outputs)
        assert check_precision(IntegerLaplace(), [(sample, sample)], FALSE_ALARM).verdict == "skipped"


def test_two_sample_p_value_is_that_of_the_contingency_table():
    from scipy import stats

    first, second = np.repeat([0, 1, 2], [500, 300, 250]), np.repeat([0, 1, 2], [450, 380, 220])
    table = np.array([np.bincount(first), np.bincount(second)])
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert two_sample_p_value(first, second) == pytest.approx(expected)
    assert two_sample_p_value(first, first) == pytest.approx(1)
    assert two_sample_p_value(np.zeros(5, int), np.zeros(5, int)) == 1.0
