"""Noisy clusters: sensitivities by enumeration, rows by themselves, and centers that are found."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import accounting
from discreet.learning.design.features import Features
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.noisy_clusters import ClusterPlan, NoisyClusters, Plane
from discreet.learning.training.budgets import stated_budget
from discreet.privacy.guarantees import ApproximateDP

N = 2**12


def grid(columns, bounds=(-1, 1)):
    return BoxGrid.of(Features.of(bounds, [f"x{i}" for i in range(columns)], by_name=False))


def clusters(columns=2, count=3, *, rows=1, plan=None, bounds=(-1, 1), **budget):
    return NoisyClusters(
        grid=grid(columns, bounds),
        clusters=count,
        budget=stated_budget(**(budget or {"rho": Fraction(1, 2)})),
        rows=rows,
        plan=plan,
    )


def apart(count, source, columns=3):
    """Rows about four places that are far from each other."""
    places = np.array([[-0.6, -0.6, 0.5], [0.6, -0.5, 0.5], [-0.5, 0.6, -0.5], [0.6, 0.6, -0.6]])[:, :columns]
    return places, places[source.integers(0, 4, count)] + source.normal(0, 0.06, (count, columns))


def test_the_event_is_one_release_of_moments_and_one_of_sums_each_time():
    plan = ClusterPlan(iterations=4, moments_share=Fraction(1, 5))
    found = clusters(plan=plan)
    assert found.event == found.moments.event + found.noise.event * 4
    assert found.event.concentrated_rho == Fraction(1, 2)
    assert found.moments.event.concentrated_rho == Fraction(1, 10)


@pytest.mark.parametrize("budget", [{"epsilon": 2, "delta": 1e-6}, {"epsilon": 2}])
def test_the_budget_is_kept(budget):
    found = clusters(**budget)
    assert accounting.epsilon(found.event, delta=budget.get("delta", 0)).upper <= 2 + 1e-9
    if "delta" in budget:
        assert found.guarantee == ApproximateDP(**budget)


def test_no_row_of_a_plane_is_longer_than_stated():
    """Rows of every direction and length, in planes of every radius: no change is larger than the event's."""
    source = np.random.default_rng(7)
    pure, normal = clusters(3, 3, epsilon=1), clusters(3, 3)
    corners = np.array(np.meshgrid(*[[-4096, -1000, 0, 17, 4096]] * 3)).reshape(3, -1).T.astype(np.int16)
    longest = total = 0
    for radius in (1e-3, 0.1, 1.0, 3.0):
        turned, _ = np.linalg.qr(source.normal(0, 1, (3, 3)))
        plane = Plane(
            origin=source.uniform(-1, 1, 3),
            axes=turned,
            scales=np.array([1.0, 0.5, 1e-3]),
            spread=np.ones(3),
            radius=radius,
        )
        centers = source.normal(0, 0.5, (3, 3))
        for row in plane.rows(corners, 4096):
            change = normal.measured(row[None], centers)
            assert (change.any(axis=1)).sum() == 1
            longest, total = max(longest, int((change**2).sum())), max(total, int(np.abs(change).sum()))
    assert 0.98 * normal.noise.event.squared_sensitivity < longest <= normal.noise.event.squared_sensitivity
    assert 0.9 * pure.noise.event.sensitivity < total <= pure.noise.event.sensitivity


def test_many_rows_of_a_person_move_as_many_times_as_far():
    one, seven = clusters(), clusters(rows=7)
    assert seven.noise.event.squared_sensitivity == 49 * one.noise.event.squared_sensitivity
    assert seven.moments.event.squared_sensitivity == 49 * one.moments.event.squared_sensitivity
    pure, more = clusters(epsilon=1), clusters(epsilon=1, rows=7)
    assert more.noise.event.sensitivity == 7 * pure.noise.event.sensitivity


def test_a_row_adds_its_own_part_and_nothing_else():
    source = np.random.default_rng(2)
    found = clusters(5, 4)
    rows = source.integers(-4096, 4097, (20_000, 5)).astype(np.int16)
    turned, _ = np.linalg.qr(source.normal(0, 1, (5, 5)))
    plane = Plane(
        origin=np.full(5, 0.1), axes=turned[:, :4], scales=np.ones(5), spread=np.ones(4), radius=1.0
    )
    places, centers = plane.rows(rows, 4096), source.normal(0, 0.4, (4, 4))
    everybody = found.measured(places, centers)
    for who in (0, 16_384, 19_999):
        assert (plane.rows(rows[who : who + 1], 4096) == places[who]).all()
        others = found.measured(np.delete(places, who, 0), centers)
        assert (everybody - others == found.measured(places[who : who + 1], centers)).all()


def test_a_tie_goes_to_the_first_center():
    found = clusters(1, 2)
    centers = np.array([[-0.5], [0.5]])[:, : found.components]
    counts = found.measured(np.zeros((5, 1), dtype=np.int16), centers)[:, 0]
    assert counts.tolist() == [5 * N, 0]


@pytest.mark.statistical
@pytest.mark.parametrize("budget", [{"rho": 1000}, {"epsilon": 2, "delta": 1e-6}, {"epsilon": 4}])
def test_places_that_are_far_apart_are_found(budget):
    places, values = apart(8_000, np.random.default_rng(1))
    found = clusters(3, 4, **budget)
    centers = found.release(found.grid.rounded(list(values.T)))
    distances = np.linalg.norm(places[:, None] - centers, axis=2)
    assert distances.min(axis=1).max() < 0.12
    assert sorted(distances.argmin(axis=1).tolist()) == [0, 1, 2, 3]


def test_starts_are_apart_and_the_same_each_time():
    found = clusters(3, 6)
    plane = Plane(
        origin=np.zeros(3), axes=np.eye(3), scales=np.ones(3), spread=np.array([0.4, 0.3, 0.2]), radius=1.2
    )
    starts = found.starts(plane)
    assert (starts == found.starts(plane)).all()
    gaps = np.linalg.norm(starts[:, None] - starts, axis=2) + np.eye(6)
    assert gaps.min() > 0.15


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_have_centers_within_the_box(rows):
    for columns, count in ((1, 5), (4, 2)):
        found = clusters(columns, count).release(np.full((rows, columns), 4096, dtype=np.int16))
        assert found.shape == (count, columns)
        assert (np.abs(found) <= 1).all()


def test_distances_are_in_the_units_of_the_columns():
    """Two far places along a narrow column, and noise along a wide one: the wide one decides."""
    source = np.random.default_rng(4)
    wide, narrow = source.choice([-50.0, 50.0], 4000), source.choice([-0.5, 0.5], 4000)
    found = clusters(2, 2, bounds=[(-100, 100), (-1, 1)], rho=1000)
    centers = found.release(found.grid.rounded([wide, narrow]))
    assert np.allclose(sorted(centers[:, 0]), [-0.5, 0.5], atol=0.02)
