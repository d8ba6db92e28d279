"""The worked example of reciprocals: noise for these data beats noise for the worst."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.stability.ratio import ratio
from discreet.stability.reciprocal import reciprocal
from examples import reciprocal as example


@pytest.mark.statistical
def test_smooth_noise_on_a_reciprocal_is_far_smaller():
    worst, smooth = example.relative_errors(reciprocal(1000), Fraction(1, 2), runs=60)
    assert smooth < worst / 1000
    assert smooth < 0.1


@pytest.mark.statistical
def test_smooth_noise_on_a_share_is_far_smaller():
    worst, smooth = example.relative_errors(ratio(300, 1000), Fraction(1), runs=60)
    assert smooth < worst / 20


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "COUNTS", (100,))
    monkeypatch.setattr(example.relative_errors, "__defaults__", (5,))
    example.main(str(tmp_path))
    assert "1 / 100" in capsys.readouterr().out
