from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from audit.right import GridLaplace, IntegerGaussian, IntegerLaplace, RandomizedResponse
from discreet.audit import output_law
from discreet.audit.fit import Draws, check_fit, chi_square
from discreet.audit.samples import collect, draw
from discreet.noise import current, sample_gaussian, sample_laplace
from effort import sizes
from significance import FALSE_ALARM

SCALES = [Fraction(1, 2), Fraction(1), Fraction(10), Fraction(1000), Fraction(1 << 30)]


def fit(mechanism, value, sample, law=None):
    return check_fit(
        mechanism, [Draws(name="releases", value=value, sample=sample, law=law)], FALSE_ALARM
    ).verdict


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_right_scale_is_accepted_and_five_percent_are_rejected(scale, kind):
    if kind == "laplace":
        mechanism = IntegerLaplace(1, 1 / scale)
        laws = [
            sample_laplace(scale * f, 10**6, current()) for f in (1, Fraction(95, 100), Fraction(105, 100))
        ]
    else:
        mechanism = IntegerGaussian(1 / (2 * scale**2))
        laws = [
            sample_gaussian((scale * f) ** 2, 10**6, current())
            for f in (1, Fraction(95, 100), Fraction(105, 100))
        ]
    assert [fit(mechanism, 7, collect_array(7 + noise)) for noise in laws] == ["passed", "failed", "failed"]


def collect_array(values):
    sample = collect([1])
    return type(sample)(values=values, keys=None)


@pytest.mark.slow
@pytest.mark.statistical
def test_fresh_releases_fit_the_enumerated_law_and_those_of_a_neighbor_do_not():
    for mechanism, x, other in ((RandomizedResponse(), 0, 1), (IntegerLaplace(), 0, 1)):
        law = output_law(mechanism.release, x)
        assert fit(mechanism, x, draw(mechanism, x, 20_000), law) == "passed"
        assert fit(mechanism, x, draw(mechanism, other, 20_000), law) == "failed"


@pytest.mark.statistical
def test_outputs_that_the_law_does_not_know_are_rejected():
    mechanism = RandomizedResponse()
    law = output_law(mechanism.release, 0)
    released = [mechanism.release(0) for _ in range(20_000)]
    assert fit(mechanism, 0, collect(released), law) == "passed"
    assert fit(mechanism, 0, collect([*released, 3]), law) == "failed"


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("draws", sizes(6_000, 20_000))
def test_grid_noise_is_compared_in_steps_from_the_rounded_input(draws):
    mechanism = GridLaplace(Fraction(1, 4))
    for value in (0.0, 0.125, -0.125, 3.3):
        assert fit(mechanism, value, draw(mechanism, value, draws)) == "passed"
    assert fit(mechanism, 0.0, draw(mechanism, 0.25, draws)) == "failed"


def test_without_any_law_nothing_is_tested():
    assert fit(RandomizedResponse(), 0, collect([0, 1])) == "skipped"
    assert fit(IntegerLaplace(), "text", collect([0, 1])) == "skipped"


def test_chi_square_is_the_textbook_statistic():
    from scipy import stats

    observed, masses = np.array([5200, 2900, 1900]), np.array([0.5, 0.3, 0.2])
    assert chi_square(observed, masses) == pytest.approx(stats.chisquare(observed, masses * 10_000).pvalue)


def test_small_cells_are_pooled():
    observed, masses = np.array([6000, 3000, 600, 400]), np.array([0.6, 0.3, 0.06, 0.04])
    assert chi_square(observed, masses) == 1.0
    swapped = chi_square(np.array([6000, 3000, 400, 600]), masses)
    assert swapped == 1.0
    assert chi_square(np.array([10]), np.array([1.0])) == 1.0
