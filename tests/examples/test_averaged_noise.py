"""Fresh noise averages out; the same question is the same answer, and the budget ends the rest."""

from __future__ import annotations

import pytest

from examples import averaged_noise as example


@pytest.mark.statistical
def test_means_are_as_far_off_as_the_central_limit_theorem_says():
    means = example.errors_of_means(runs=4000)
    for times in (16, 64, 256, 1024):
        assert means[times] == pytest.approx(example.expected(times), rel=0.1)


def test_one_answer_for_the_same_price_is_better():
    for times in example.TIMES[1:]:
        assert example.error_of_one(times) < example.expected(times) / 2


def test_a_curator_cannot_be_averaged(tmp_path):
    same, fresh, _ = example.attack(tmp_path, attempts=14)
    assert len(same) == 1
    assert fresh == 10  # of epsilon 0.05 each, out of 0.5


def test_it_prints_and_draws(capsys, tmp_path):
    example.main(str(tmp_path))
    assert "10 answers, then the budget is spent" in capsys.readouterr().out
    assert (tmp_path / "averaged_noise.png").exists()
