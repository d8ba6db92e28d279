"""The worked example of four counts: computed and measured errors agree."""

from __future__ import annotations

import pytest

from examples import four_counts


@pytest.mark.statistical
def test_four_counts_cost_128_and_disjoint_cells_less():
    epsilon = 0.1
    results = four_counts.squared_errors(epsilon, runs=40_000)
    units = {words: computed * epsilon**2 for words, (computed, _) in results.items()}
    # Continuous noise of scale 4 / epsilon gives 128 / epsilon^2; integers give a hair less.
    assert units["asked directly"] == pytest.approx(128, rel=1e-3)
    assert units["from disjoint cells (add or remove a person)"] == pytest.approx(28, rel=1e-3)
    assert units["from disjoint cells (replace a person)"] == pytest.approx(4 * 28, rel=1e-3)
    for computed, measured in results.values():
        assert measured == pytest.approx(computed, rel=0.06)


def test_one_person_can_change_all_four_counts():
    assert four_counts.WORKLOAD.max(axis=1).sum() == 4
    assert (four_counts.WORKLOAD[:, -1] == 1).all()  # a tall, heavy woman is in all of them


def test_it_prints(capsys):
    four_counts.main()
    assert "128.0" in capsys.readouterr().out
