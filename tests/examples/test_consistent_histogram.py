"""The example of a consistent tree: each property that is used brings the counts closer."""

from __future__ import annotations

import pytest

from examples import consistent_histogram


@pytest.mark.statistical
def test_every_known_property_lowers_the_error():
    found = consistent_histogram.errors(1.0, runs=60)
    error = [figures[0] for figures in found.values()]
    assert error[1] < 0.8 * error[0]
    assert error[2] < error[1]
    assert error[3] < 0.95 * error[1]
    # Scale 8: each node as released has a standard deviation of 8 sqrt(2).
    assert error[0] == pytest.approx(8 * 2**0.5, rel=0.07)
    assert abs(found["consistent"][2]) < 2
    assert found["consistent, non-negative"][2] > 0  # ages of nobody: biased, as the record says


def test_it_prints(capsys, tmp_path):
    consistent_histogram.main(str(tmp_path))
    assert "consistent, non-negative" in capsys.readouterr().out
