"""The worked example of a set and a partition: what adapts to the data is wrong less often."""

from __future__ import annotations

from itertools import product

import pytest

from examples import sets_and_partitions as example


@pytest.mark.statistical
def test_both_are_nearer_than_noise_for_the_worst_case():
    errors = example.mean_errors(example.panel(), runs=60)
    for here, worst in errors.values():
        assert here < 0.75 * worst


def test_partitions_are_all_there_and_far_apart_as_a_metric_is():
    found = example.partitions(4)
    assert len(set(found)) == len(found) == 15  # Bell's number
    assert example.moved(((0, 1, 2, 3),), ((0,), (1,), (2,), (3,))) == 3
    assert example.moved(((0, 1), (2, 3)), ((0, 2), (1, 3))) == 2
    for one, other, third in product(found, repeat=3):
        assert example.moved(one, third) <= example.moved(one, other) + example.moved(other, third)
        assert (example.moved(one, other) == 0) == (one == other)


def test_one_label_that_changes_moves_one_dish():
    answers = example.panel(200)
    parts, local = example.grouped(answers)
    assert sorted(sum(parts, ())) == list(range(example.GROUPED))
    assert 0 <= local <= example.GROUPED


def test_it_prints(capsys, tmp_path):
    example.main(str(tmp_path))
    assert "partition" in capsys.readouterr().out
