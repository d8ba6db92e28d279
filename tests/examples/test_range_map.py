"""The map is released near the best possible error."""

from __future__ import annotations

from examples import range_map


def test_the_plan_is_near_the_bound():
    chosen = range_map.planned()
    assert chosen.workload.queries == 4_326_400
    assert 0 <= chosen.gap < 2e-3


def test_it_prints_and_plots(capsys, tmp_path):
    range_map.main(str(tmp_path))
    assert "no strategy below" in capsys.readouterr().out
    assert (tmp_path / "range_map.png").stat().st_size > 5000
