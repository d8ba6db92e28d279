"""The classroom survey tells its story, and its teacher sees answers only."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from discreet.noise import replay
from examples import survey


def test_the_story_is_printed(capsys, tmp_path):
    survey.main(str(tmp_path))
    printed = capsys.readouterr().out
    assert "epsilon = ln 3 = 1.0986" in printed
    assert "Never sent to anyone:  30.0%" in printed
    assert printed.count("students: epsilon =") == 3


def test_the_teacher_uses_nothing_but_answers():
    """The same answers give the same estimate, for any truth; the truth is not an argument."""
    assert list(inspect.signature(survey.teacher).parameters) == ["answers"]
    assert not {"STUDENTS", "GUILTY", "students"} & set(survey.teacher.__code__.co_names)
    estimate, lower, upper = survey.teacher(np.repeat([0, 1], [1200, 800]))
    assert estimate == pytest.approx(0.3)
    assert lower < 0.3 < upper


def test_a_student_sends_an_answer_that_is_not_always_the_truth():
    with replay(3):
        answers = survey.students()
    truth = np.arange(survey.STUDENTS) < survey.GUILTY
    assert answers.shape == truth.shape
    assert 0.7 < np.mean(np.asarray(answers) == truth) < 0.8
