"""Laplace against Gaussian: each wins where theory says it does."""

from __future__ import annotations

import pytest

from examples import high_dimension


def test_laplace_wins_in_few_dimensions_and_gaussian_in_many():
    assert high_dimension.crossing() == 12
    for dimension in (1, 5, 11):
        laplace, gaussian = high_dimension.expected_errors(dimension)
        assert laplace < gaussian
    for dimension in (12, 100, 1000):
        laplace, gaussian = high_dimension.expected_errors(dimension)
        assert gaussian < laplace


def test_errors_grow_as_d_and_as_its_root():
    small, large = high_dimension.expected_errors(100), high_dimension.expected_errors(10_000)
    assert large[0] / small[0] == pytest.approx(100, rel=1e-3)
    assert large[1] / small[1] == pytest.approx(10, rel=1e-3)


def test_it_prints_and_plots(capsys, tmp_path):
    high_dimension.main()
    assert "from 12 answers on" in capsys.readouterr().out
    high_dimension.plot({d: high_dimension.expected_errors(d) for d in (1, 10)}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
