"""The worked example of private teachers."""

from __future__ import annotations

import pytest

from examples import private_teachers as example


def test_many_teachers_know_less_each_and_together_still_enough():
    (few, one_of_few, _, _), (many, one_of_many, most, lead) = example.agreement((10, 60))
    assert (few, many) == (10, 60)
    assert one_of_many < one_of_few
    assert most > one_of_many + 0.05
    assert 0.2 < lead < 0.9


@pytest.mark.statistical
def test_a_student_learns_digits_that_it_was_never_told():
    answers, learned = example.student(teachers=40, epsilon=40.0)
    assert answers > 0.8
    assert learned > 0.7


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example.agreement, "__defaults__", ((10,),))
    example.main(str(tmp_path))
    assert "whatever the votes are" in capsys.readouterr().out
    assert list(tmp_path.iterdir())
