"""Both sums of gradients, on the processor and on an accelerator, are what an optimizer works with."""

from __future__ import annotations

import inspect

import pytest

from discreet.learning.deep.clipped_sum import ClippedSum
from discreet.learning.deep.journal import Journal
from discreet.learning.deep.step_parts import GradientSum, StepRecord


def shared_methods(protocol):
    return [name for name, value in vars(protocol).items() if inspect.isfunction(value) and name[0] != "_"]


@pytest.mark.parametrize("name", shared_methods(GradientSum))
def test_sums_take_the_same(name):
    wanted = list(inspect.signature(getattr(GradientSum, name)).parameters)
    assert list(inspect.signature(getattr(ClippedSum, name)).parameters) == wanted


def test_a_journal_is_a_record():
    assert shared_methods(StepRecord) == ["charge"]
    assert callable(Journal.charge)
