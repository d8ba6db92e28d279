"""Per-instance losses against the laws themselves, and the way from all instances to a guarantee."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.stability.instance_shifts import mean_shifts, sum_shifts
from discreet.stability.per_instance import gaussian_losses, laplace_losses, worst_case


def laplace_divergence(shift, scale):
    """The largest log-ratio of two discrete Laplace laws, by definition."""
    return max((abs(y - shift) - abs(y)) / scale for y in range(-50, 51))


def gaussian_delta(shift, sigma, epsilon):
    """The hockey-stick divergence of two discrete Gaussian laws, by definition."""
    reach = int(12 * sigma) + abs(shift) + 2
    weight = {y: mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * sigma**2)) for y in range(-reach - shift, reach + 1)}
    total = sum(weight.values())
    factor = mpmath.exp(epsilon)
    return sum(max(weight[y] - factor * weight.get(y - shift, 0), 0) for y in weight) / total


def test_d9_laplace_losses_are_the_divergences():
    values, persons = [3, -1, 4, 0], [1, 2, 3, 4]
    report = laplace_losses(sum_shifts(values, persons), scale=8)
    for loss, value in zip(report.losses, values, strict=True):
        assert loss >= laplace_divergence(value, 8)
        assert loss == pytest.approx(laplace_divergence(value, 8), rel=1e-9)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_d9_gaussian_losses_bound_the_divergences_and_are_near_them(delta):
    shifts = np.array([0, 1, 2, 5, 9])
    report = gaussian_losses(shifts, sigma=4, delta=delta)
    assert report.losses[0] == 0
    with mpmath.workdps(40):
        for shift, loss in zip(shifts[1:], report.losses[1:], strict=True):
            assert gaussian_delta(int(shift), 4, mpmath.mpf(float(loss))) <= delta
            assert gaussian_delta(int(shift), 4, mpmath.mpf(float(loss)) * 0.75) > delta


def test_d9_the_supremum_over_a_universe_is_the_guarantee_of_a_sum():
    """All data sets of up to three values in [-2, 5]: the worst instance is the global sensitivity."""
    mechanism = Laplace(sensitivity=5, epsilon=Fraction(1, 2))
    reports = [
        laplace_losses(sum_shifts(data, range(len(data))), scale=mechanism.event.scale)
        for size in range(4)
        for data in combinations_with_replacement(range(-2, 6), size)
    ]
    guarantee = worst_case(reports)
    assert float(guarantee.epsilon) == pytest.approx(mechanism.epsilon, rel=1e-9)
    assert guarantee.epsilon >= mechanism.guarantee.epsilon
    # Most instances lose less than the worst.
    assert np.mean([report.losses.max(initial=0) < mechanism.epsilon for report in reports]) > 0.3


def test_d9_the_supremum_over_a_universe_is_the_guarantee_of_a_gaussian_mean():
    mechanism = Gaussian(sensitivity=1, rho=Fraction(1, 8))
    reports = [
        gaussian_losses(mean_shifts(data, range(size)), sigma=mechanism.sigma, delta=1e-5)
        for size in range(1, 4)
        for data in combinations_with_replacement((0, 1), size)
    ]
    guarantee = worst_case(reports)
    assert guarantee.delta == Fraction(1, 10**5)
    largest = max(mean_shifts(data, range(3)).max() for data in combinations_with_replacement((0, 1), 3))
    assert largest < 1
    alone = gaussian_losses([1], sigma=mechanism.sigma, delta=1e-5).losses[0]
    assert float(guarantee.epsilon) == alone  # one person, whose leaving empties the table


def test_reports_show_no_numbers(capsys):
    report = laplace_losses([123.456, 3], scale=2)
    for text in (repr(report), str(report)):
        assert text == "PerInstanceReport(private, delta=0)"
    counts, edges = report.histogram(4)
    assert counts.sum() == 2
    assert edges[0] == 0
    empty = gaussian_losses([], sigma=1, delta=1e-6)
    assert empty.histogram()[0].sum() == 0


def test_the_histogram_is_drawn():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    axes = gaussian_losses([1, 2, 3, 3], sigma=10, delta=1e-6).plot()
    assert axes.get_title().startswith("Private")
    again = laplace_losses([1, 2], scale=1).plot(axes=axes)
    assert again is axes
    pyplot.close("all")


@pytest.mark.parametrize(
    "options", [{"sigma": 0, "delta": 0.1}, {"sigma": 1, "delta": 1}, {"sigma": 1, "delta": 0}]
)
def test_wrong_parameters_are_refused(options):
    with pytest.raises(ParameterError):
        gaussian_losses([1], **options)


def test_reports_of_different_deltas_give_no_guarantee():
    with pytest.raises(ParameterError):
        worst_case([laplace_losses([1], scale=1), gaussian_losses([1], sigma=1, delta=0.1)])
    with pytest.raises(ParameterError):
        worst_case([])
    with pytest.raises(ParameterError):
        laplace_losses([[1]], scale=1)
