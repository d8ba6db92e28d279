"""The worked example of steep surfaces: a support vector that moves a line, and two places for noise."""

from __future__ import annotations

import numpy as np
import pytest

from examples import steep_surfaces as example


def test_one_person_moves_the_line_and_most_do_not():
    points, labels = example.two_groups()
    whole = example.support_line(points, labels)
    without = [example.support_line(np.delete(points, one, 0), np.delete(labels, one)) for one in range(12)]
    moved = [np.linalg.norm(line - whole) for line in without]
    assert moved[-1] > 0.5
    assert sum(one < 1e-3 for one in moved) >= 8


@pytest.mark.statistical
def test_a_linear_term_moves_a_weight_less_where_the_loss_is_steep():
    found = example.fits(runs=40)
    output, objective = (found[name].std(axis=0) for name in example.METHODS)
    assert 0.4 < output[0] / output[1] < 2.5  # alike in all directions
    assert objective[0] < 0.4 * objective[1]
    assert objective[0] < 0.3 * output[0]


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example.fits, "__defaults__", (3,))
    example.main(str(tmp_path))
    assert "without one person" in capsys.readouterr().out
