"""What noisy sums say: finite means and positive variances, whatever the noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.learning.moments.moments import Moments

ANY = st.floats(-1e9, 1e9)


def moments(counts, first, second, deviation=1.0, mixed=None):
    return Moments(
        counts=np.array(counts, dtype=float),
        first=np.array(first, dtype=float),
        second=np.array(second, dtype=float),
        mixed=mixed,
        deviation=deviation,
        count_deviation=deviation,
        least_variance=2.0**-24,
    )


@given(ANY, ANY, ANY, st.floats(1e-9, 1e9))
def test_any_sums_have_means_in_the_box_and_positive_variances(count, total, squares, deviation):
    found = moments([count, 5.0], [[total], [0.0]], [[squares], [1.0]], deviation)
    assert (np.abs(found.means) <= 1).all()
    assert ((found.variances > 0) & (found.variances <= 1)).all()
    assert found.shares.sum() == pytest.approx(1)
    assert (found.shares > 0).all()


def test_an_empty_group_has_the_moments_of_the_box():
    found = moments([-50.0], [[0.0]], [[0.0]], deviation=10.0)
    assert found.means.tolist() == [[0.0]]
    assert found.variances[0, 0] >= 1 / 3


def test_no_variance_is_less_than_noise_would_show():
    constant = moments([1000.0], [[500.0]], [[250.0]], deviation=20.0)
    assert constant.variances[0, 0] > 20.0 / 2 / 1020
    exact = moments([1000.0], [[500.0]], [[250.0]], deviation=1e-12)
    assert exact.variances[0, 0] == pytest.approx(2.0**-24, rel=0.1)


def test_covariances_are_those_of_the_sums():
    mixed = np.array([[[40.0, 10.0], [10.0, 30.0]]])
    found = moments([100.0], [[20.0, 0.0]], [[40.0, 30.0]], deviation=1e-9, mixed=mixed)
    assert np.allclose(found.covariances[0], [[0.4 - 0.04, 0.1], [0.1, 0.3]])
