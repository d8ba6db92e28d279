"""The worked example of a private tree."""

from __future__ import annotations

import pytest

from examples import private_tree as example


@pytest.mark.statistical
def test_with_a_fair_budget_the_tree_is_nearly_the_best():
    found = example.accuracies(runs=3)
    assert found[2][-1] > 0.75
    assert found[4][-1] > 0.8
    assert found[4][0] < found[4][-1]


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example.accuracies, "__defaults__", (300, 1))
    example.main(str(tmp_path))
    assert "depth" in capsys.readouterr().out
