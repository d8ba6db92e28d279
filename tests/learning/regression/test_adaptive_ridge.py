"""Private regression: exact sensitivities by brute force, its event, and defined answers on bad data."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import AdaptiveRidge
from discreet.noise import entropy
from discreet.noise.replayed import is_private
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.stability.eigenvalue import gram, smallest_eigenvalue
from discreet.stability.per_instance import gaussian_losses


def regression(**options):
    return AdaptiveRidge(**{"columns": 3, "largest": 2, "response": 5, "rho": Fraction(1, 2), **options})


def test_the_event_is_the_composition_of_three_releases_with_a_third_each():
    found = regression()
    assert found.event == found.eigenvalue.event + found.matrix.event + found.moments.event
    assert found.event.concentrated_rho == Fraction(1, 2)
    assert found.guarantee == ZeroConcentratedDP(rho=Fraction(1, 2))


def test_epsilon_and_delta_are_kept():
    found = regression(rho=None, epsilon=1, delta=1e-6)
    assert found.guarantee == ApproximateDP(epsilon=1, delta=1e-6)
    assert accounting.epsilon(found.event, delta=1e-6).upper <= 1 + 1e-9


def test_one_row_moves_each_statistic_by_its_sensitivity_at_most():
    """All integer rows within the bound, of which the worst attains two moves; and rows as they enter."""
    found = regression(columns=2, largest=16, response=8, resolution=16)
    steps, half, weight = 16, 8, found.units.weight
    assert (found.units.steps, found.units.response_steps) == (steps, half)
    moved_matrix = moved_moments = 0
    base = np.array([[3, 1], [0, -7], [5, 5]])
    before = smallest_eigenvalue(gram(base, steps))
    for row in product(range(-16, 17), repeat=2):
        entered, target = found._on_grid([row], [8.0])
        assert (entered**2).sum() <= steps**2
        assert target.tolist() == [half]
        (x, y), z = row, half
        if x * x + y * y > steps**2:
            continue
        held = np.array([row])
        moved_matrix = max(moved_matrix, x**4 + (x * y) ** 2 + y**4)
        moved_moments = max(moved_moments, (x * z) ** 2 + (y * z) ** 2 + z**4 + weight**2)
        after = smallest_eigenvalue(gram(np.vstack([base, held]), steps))
        assert 0 <= after - before <= found.eigenvalue.event.squared_sensitivity ** Fraction(1, 2)
    assert found.matrix.event.squared_sensitivity == moved_matrix
    assert found.moments.event.squared_sensitivity == moved_moments


def test_a_person_with_many_rows_has_as_many_times_the_sensitivity():
    one, three = regression(), regression(rows=3)
    for name in ("eigenvalue", "matrix", "moments"):
        single, triple = getattr(one, name).event, getattr(three, name).event
        assert triple.squared_sensitivity == 9 * single.squared_sensitivity
        assert triple.rho == single.rho


def test_the_losses_of_a_regression_release_are_those_of_removing_each_row():
    source = np.random.default_rng(6)
    design, response = source.normal(size=(12, 3)), source.normal(size=12)
    found = regression()
    report = found.instance_losses(design, response, delta=1e-6)
    rows, target = found._on_grid(design, response)
    whole = gram(rows, found.units.steps)
    upper = np.triu_indices(3)
    for row in range(12):
        rest = gram(rows[np.arange(12) != row], found.units.steps)
        eigenvalue = smallest_eigenvalue(whole) - smallest_eigenvalue(rest)
        matrix = (np.array(whole, dtype=object) - np.array(rest, dtype=object))[upper]
        x, y = rows[row].astype(object), int(target[row])
        vector = [*(x * y), y * y, found.units.weight]

        def loss(first, matrix=matrix, vector=vector):
            twice = (
                Fraction(int(first) ** 2) / found.eigenvalue.event.variance
                + Fraction(int((matrix**2).sum())) / found.matrix.event.variance
                + Fraction(int(sum(entry**2 for entry in vector))) / found.moments.event.variance
            )
            return gaussian_losses([float(twice) ** 0.5], sigma=1, delta=1e-6).losses[0]

        assert report.losses[row] >= loss(eigenvalue) * (1 - 1e-9)
        assert report.losses[row] == pytest.approx(loss((x * x).sum()), rel=1e-9)
    most = gaussian_losses([float(2 * found.guarantee.rho) ** 0.5], sigma=1, delta=1e-6).losses[0]
    assert report.losses.max() < most
    extreme = found.instance_losses([[2, 0, 0]], [5], delta=1e-6)
    assert 0.999 * most < extreme.losses[0] < most  # the worst row has the budget, except for the margin


@pytest.mark.parametrize(
    ("design", "response"),
    [
        (np.zeros((0, 3)), []),
        ([[1, 1, 1]], [1]),
        ([[1, 1, 1], [2, 2, 2]], [1, 1]),
        (np.ones((400, 3)), np.ones(400)),
        (np.full((5, 3), np.nan), np.full(5, np.nan)),
        (np.full((5, 3), np.inf), np.full(5, -np.inf)),
        (np.full((5, 3), 1e308), np.full(5, 1e308)),
    ],
)
def test_bad_data_have_a_fit(design, response):
    fit = regression().release(design, response)
    assert np.isfinite(fit.coefficients).all()
    assert not np.isnan(fit.intervals()).any()
    assert (fit.intervals()[:, 0] <= fit.intervals()[:, 1]).all()


def test_rows_keep_their_direction_and_their_bound():
    found = regression(resolution=2**12)
    rows, target = found._on_grid(
        [[30, 40, 0], [1, 0.5, 0], [-1e300, 0, 0], [np.inf, 0, 0]], [9, -9, 1, np.nan]
    )
    assert rows.tolist()[0] == [round(0.6 * 4095), round(0.8 * 4095), 0]
    assert rows.tolist()[1] == [2048, 1024, 0]
    assert rows.tolist()[2:] == [[-4095, 0, 0], [4095, 0, 0]]
    assert target.tolist() == [2048, -2048, round(2048 / 5), 0]
    assert ((rows**2).sum(axis=1) <= 4096**2).all()


def test_replayed_fits_are_marked():
    with entropy.using(entropy.Replay(1)):
        fit = regression().release(np.ones((3, 3)), np.ones(3))
    assert not is_private(fit.matrix)
    assert not is_private(fit.eigenvalue)
    assert is_private(regression().release(np.ones((3, 3)), np.ones(3)).matrix)


@pytest.mark.parametrize(
    "options",
    [
        {"columns": 0},
        {"largest": 0},
        {"response": -1},
        {"rho": 0},
        {"epsilon": 1},
        {"rho": None, "epsilon": 1},
        {"rho": None, "epsilon": 1, "delta": 1},
        {"rows": 0},
        {"resolution": 3},
        {"largest": "1e-310"},
        {"largest": "1e305"},
        {"response": "1e-400"},
        {"response": "1e400"},
    ],
)
def test_wrong_parameters_are_refused(options):
    with pytest.raises(ParameterError):
        regression(**options)


def test_wrong_shapes_are_refused():
    with pytest.raises(ParameterError):
        regression().release([[1, 2]], [1])
    with pytest.raises(ParameterError):
        regression().release([[1, 2, 3]], [1, 2])


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 9, 16, 17, 64])
def test_rounding_makes_no_row_too_long(columns):
    """Else longer rows would be rounded toward 0, all of them to one side."""
    found = regression(columns=columns, largest=1, resolution=2**6)
    rows = np.random.default_rng(columns).normal(size=(4000, columns))
    rows[0] = 1
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    steps = found._on_grid(rows, np.zeros(len(rows)))[0]
    assert np.abs(steps - rows * found.units.row_steps).max() <= 0.501
    assert (steps**2).sum(axis=1).max() <= found.units.steps**2


def test_no_row_is_rounded_by_what_is_in_another():
    """Whatever the order in memory: sums of floats in another order round to another side."""
    source, found = np.random.default_rng(0), regression(columns=16, largest=1)
    steps = found.units.row_steps
    for _ in range(2000):
        row = source.normal(size=16)
        half = (int(source.integers(100, 2000)) + 0.5) / steps
        row[0] = half * np.sqrt((row[1:] ** 2).sum() / (1 - half**2))
        row *= 3 / np.abs(row).max()
        both = np.asfortranarray(np.stack([row, source.normal(size=16) / 10]))
        alone = found._on_grid(row[None], [0.0])[0][0]
        assert (found._on_grid(both, [0.0, 0.0])[0][0] == alone).all()


def test_infinities_are_clipped_also_where_bounds_are_small():
    found = regression(columns=2, largest=Fraction(1, 2), response=Fraction(1, 4))
    rows, target = found._on_grid([[np.inf, 1.0], [1e308, 1.0], [0.0, -np.inf]], [np.inf, -1e308, 0.1])
    assert rows.tolist() == [[4095, 0], [4095, 0], [0, -4095]]
    assert target.tolist() == [2048, -2048, round(0.4 * 2048)]
    extreme = regression(columns=2, largest=Fraction(1, 2**800), response=2**800)
    assert extreme._on_grid([[np.inf, 0.0]], [1e300])[0].tolist() == [[4095, 0]]


def test_long_numbers_and_missing_ones_are_data():
    found = regression(columns=2, largest=1, response=1)
    rows, target = found._on_grid([[10**400, 1.0], [None, -(10**400)]], [10**400, Fraction(1, 2)])
    assert rows.tolist() == [[4095, 0], [0, -4095]]
    assert target.tolist() == [2048, 1024]


@pytest.mark.parametrize(
    "design",
    [[["secret-diagnosis", 1.0]], [["1.5", 1.0]], [[1j, 1.0]], [[object(), 1.0]], [[1.0], [1.0, 2.0]]],
)
@pytest.mark.parametrize("call", ["release", "instance_losses"])
def test_wrong_types_are_refused_without_a_word_about_the_data(design, call):
    options = {"delta": 0.1} if call == "instance_losses" else {}
    for given in (design, np.array(design, dtype=object)):
        with pytest.raises(ParameterError) as caught:
            getattr(regression(columns=2), call)(given, [0] * len(design), **options)
        assert "secret" not in str(caught.value)
        assert "1.5" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
