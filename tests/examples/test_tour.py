"""The tour walks through the mechanisms, and the audit passes."""

from __future__ import annotations

import pytest

from examples import tour


@pytest.mark.slow
def test_it_prints_and_draws(capsys, tmp_path):
    tour.main(str(tmp_path))
    printed = capsys.readouterr().out
    assert "PASSED" in printed
    assert "the truth, for once: 2000" in printed
    assert (tmp_path / "tour.png").exists()


def test_the_visits_are_what_the_tour_says():
    departments, costs = tour.visits()
    assert len(departments) == len(costs) == 2000
    assert costs.min() >= 0
    assert costs.max() <= tour.LARGEST_COST
