"""Per-instance losses against the laws themselves, and the way from all instances to a guarantee."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.stability import median
from discreet.stability.instance_shifts import mean_shifts, sum_shifts
from discreet.stability.per_instance import (
    PerInstanceReport,
    gaussian_losses,
    laplace_losses,
    rounded_gaussian_losses,
    worst_case,
)


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


def test_laplace_losses_are_the_divergences():
    values, persons = [3, -1, 4, 0], [1, 2, 3, 4]
    report = laplace_losses(sum_shifts(values, persons), scale=8)
    for loss, value in zip(report.losses, values, strict=True):
        assert loss >= laplace_divergence(value, 8)
        assert loss == pytest.approx(laplace_divergence(value, 8), rel=1e-9)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_gaussian_losses_on_a_grid_are_the_divergences(delta):
    """Exact to a part of a billion; without the grid, a bound for every grid and up to a tenth above."""
    shifts = np.array([0, 1, 2, 5, 9])
    exact = gaussian_losses(shifts, sigma=4, delta=delta, grid=1).losses
    halves = gaussian_losses(shifts / 2, sigma=2, delta=delta, grid="1/2").losses
    assert exact[0] == 0
    assert halves == pytest.approx(exact, rel=1e-12)
    with mpmath.workdps(40):
        for shift, loss in zip(shifts[1:], exact[1:], strict=True):
            assert gaussian_delta(int(shift), 4, mpmath.mpf(float(loss))) <= delta
            assert gaussian_delta(int(shift), 4, mpmath.mpf(float(loss)) * (1 - 1e-8)) > delta
    bound = gaussian_losses(shifts, sigma=4, delta=delta).losses
    assert np.all(bound[1:] >= exact[1:])
    assert np.all(bound[1:] <= 1.25 * exact[1:])


def test_rounded_losses_depend_on_the_length_of_the_shift_alone():
    found = rounded_gaussian_losses([0, 3, 5, np.nan, 1e-200], sigma=5, delta=1e-6).losses
    assert found[0] == 0
    assert np.isinf(found[3])
    assert found[4] == 0  # the two laws are closer in total variation than delta
    with mpmath.workdps(40):
        for mu, loss in ((mpmath.mpf(3) / 5, found[1]), (mpmath.mpf(1), found[2])):
            for factor, holds in ((1, True), (1 - 1e-8, False)):
                epsilon = mpmath.mpf(float(loss)) * factor
                delta = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
                    -mu / 2 - epsilon / mu
                )
                assert (delta <= mpmath.mpf("1e-6")) == holds


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_gaussian_losses_bound_the_divergences_and_are_near_them(delta):
    shifts = np.array([0, 1, 2, 5, 9])
    report = gaussian_losses(shifts, sigma=4, delta=delta)
    assert report.losses[0] == 0
    with mpmath.workdps(40):
        for shift, loss in zip(shifts[1:], report.losses[1:], strict=True):
            assert gaussian_delta(int(shift), 4, mpmath.mpf(float(loss))) <= delta
            assert gaussian_delta(int(shift), 4, mpmath.mpf(float(loss)) * 0.75) > delta


def test_the_supremum_over_a_universe_is_the_guarantee_of_a_sum():
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


def test_the_supremum_over_a_universe_is_the_guarantee_of_a_gaussian_mean():
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
    again = laplace_losses([1, 2], scale=1).plot(ax=axes)
    assert again is axes
    pyplot.close("all")


def test_the_shade_below_an_envelope_follows_the_steps():
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    from matplotlib import pyplot

    found = median([1, 2, 3, 5, 9, 12, 15], lower=0, upper=100)
    axes = found.plot(0.2)
    (shade,) = axes.collections
    corners = {(float(x), float(y)) for x, y in shade.get_paths()[0].vertices}
    assert all((k + 1, float(found.local_at(k))) in corners for k in range(found.reach))
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


@pytest.mark.parametrize("shift", [np.nan, np.inf, -np.inf, 1e308, 10**400, None])
def test_a_loss_that_is_not_known_is_infinite_and_gives_no_guarantee(shift):
    """A comparison with what is not a number is false: it must not pass for a loss of 0."""
    for report in (
        laplace_losses([shift, 1.0], scale=Fraction(1, 100)),
        gaussian_losses([1.0, shift], sigma=Fraction(1, 100), delta=1e-6),
    ):
        assert np.isinf(report.losses).sum() == 1
        assert report.histogram(4)[0].tolist() == [0, 0, 0, 2]
        with pytest.raises(ParameterError, match="without a bound"):
            worst_case([report])
    with pytest.raises(ParameterError, match="without a bound"):
        worst_case([PerInstanceReport(losses=np.array([np.nan, 1.0]), delta=Fraction(0))])
    assert laplace_losses([np.nan], scale=1).histogram(2)[0].tolist() == [0, 1]


def test_losses_beyond_the_range_of_floats_are_not_understated():
    assert laplace_losses([0.0, 1e-300], scale="1e-400").losses.tolist() == [0, np.inf]
    assert laplace_losses([5e-324], scale=10**10).losses[0] > 0
    tiny = gaussian_losses([0.0, 1e-200], sigma=1, delta="1e-400").losses
    assert tiny[0] == 0
    assert tiny[1] > 0
    least = gaussian_losses([1.0], sigma=1, delta="1e-400").losses[0]
    with mpmath.workdps(500):
        # log of the mass beyond epsilon, from one tail of the normal law
        tail = mpmath.ncdf(0.5 - mpmath.mpf(least)) - mpmath.exp(least) * mpmath.ncdf(
            -0.5 - mpmath.mpf(least)
        )
        assert tail <= mpmath.mpf(10) ** -400


def test_a_grid_charges_whole_steps():
    """0.6 and 0.4 round to 1 and 0: a person with 0.2 moves what is released by a whole step."""
    mechanism = Laplace(sensitivity=1.0, epsilon=1, grid=1)
    scale = mechanism.event.scale
    true = abs(int(mechanism.lattice.enter(0.6)) - int(mechanism.lattice.enter(0.4))) / scale
    shifts = sum_shifts([0.4, 0.2], [0, 1])
    assert laplace_losses(shifts, scale=scale).losses[1] < true
    charged = laplace_losses(shifts, scale=scale, grid=mechanism.grid).losses
    assert charged[1] == pytest.approx(float(true), rel=1e-9)
    assert charged[1] >= true
    steps = laplace_losses([0, 0.25, 0.26, 5e-324, np.nan], scale=1, grid="0.25").losses
    assert steps == pytest.approx([0, 0.25, 0.5, 0.25, np.inf], rel=1e-9)
    both = gaussian_losses([0.1, 0.5], sigma=1, delta=1e-6, grid=0.5).losses
    assert both[0] == both[1]
    for grid in (0, 3, "0.3", "1/3", Fraction(1, 2**2000)):
        with pytest.raises(ParameterError, match="grid"):
            laplace_losses([1], scale=1, grid=grid)


@pytest.mark.parametrize("shifts", [["secret"], [1j], [[1.0], [1.0, 2.0]]])
def test_shifts_of_a_wrong_type_are_refused_without_a_word_about_them(shifts):
    with pytest.raises(ParameterError) as caught:
        laplace_losses(shifts, scale=1)
    assert "secret" not in str(caught.value)
