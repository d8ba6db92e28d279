"""Computed errors of the lecture's strategies against measured ones."""

from __future__ import annotations

import pytest

from examples import heights_by_range


@pytest.mark.statistical
def test_computed_errors_are_the_measured_ones():
    for strategy in heights_by_range.strategies().values():
        computed, measured = heights_by_range.computed_and_measured(strategy, releases=400)
        assert measured == pytest.approx(computed, rel=8 * (2 / 400) ** 0.5 / 2)


def test_the_best_is_the_best():
    errors = {
        name: heights_by_range.computed_and_measured(strategy, releases=1)[0]
        for name, strategy in heights_by_range.strategies().items()
    }
    assert min(errors, key=errors.__getitem__) == "square root: the best"
    assert heights_by_range.all_ranges_directly() > max(errors.values())


def test_it_prints(capsys, monkeypatch):
    monkeypatch.setattr(heights_by_range, "computed_and_measured", lambda strategy: (1.0, 1.0))
    heights_by_range.main()
    assert "no strategy is below" in capsys.readouterr().out
