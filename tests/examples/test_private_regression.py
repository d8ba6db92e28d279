"""The worked example of private regression: the adaptive ridge costs less than the fixed one on rich data."""

from __future__ import annotations

import pytest

from examples import private_regression as example


@pytest.mark.statistical
def test_the_adaptive_ridge_is_near_least_squares_where_the_fixed_one_is_not():
    errors = example.prediction_errors(2000, 1.0, runs=20)
    assert errors["least squares"] < errors["adaptive ridge"] < errors["fixed ridge"] / 2


@pytest.mark.statistical
def test_on_poor_data_both_ridges_are_needed():
    errors = example.prediction_errors(20_000, 0.05, runs=8)
    assert errors["adaptive ridge"] < 0.05


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example.prediction_errors, "__defaults__", (1,))
    example.main(str(tmp_path))
    assert "adaptive ridge" in capsys.readouterr().out
