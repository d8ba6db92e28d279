"""How options become events: whole numbers, epochs of a loader that shuffles."""

from __future__ import annotations

from argparse import ArgumentTypeError
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.runs import RunPart, epochs, event_of, whole_number
from discreet.errors import ParameterError
from discreet.privacy import events


@pytest.mark.parametrize(("text", "number"), [("3", 3), ("1e9", 10**9), ("10_000", 10_000), ("2.0", 2)])
def test_whole_numbers_as_people_type_them(text, number):
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["1.5", "x", "", "1e-3", "nan"])
def test_what_is_no_whole_number(text):
    with pytest.raises(ArgumentTypeError):
        whole_number(text)


@given(people=st.integers(1, 400), batch=st.integers(1, 400), steps=st.integers(0, 900))
def test_no_unit_is_touched_more_often_than_epochs_are_counted(people, batch, steps):
    """Walk through a loader that shuffles and drops an incomplete last batch, or keeps it."""
    batch = min(batch, people)
    counted = epochs(RunPart(rate=f"{batch}/{people}"), steps)
    for batches in (people // batch, ceil(people / batch)):
        touched = ceil(steps / batches)  # the unit is in the first batch of every epoch that was begun
        assert touched <= counted
    assert counted == ceil(steps / (people // batch))


def test_a_shuffled_run_is_its_epochs():
    part = RunPart(noise_multiplier="2", rate="0.3", steps=7, loader="shuffled")
    assert event_of(part) == events.Gaussian(noise_multiplier=2) * 3


@pytest.mark.parametrize("rate", ["0", "1.5", "-1"])
def test_a_loader_cannot_shuffle_at_such_a_rate(rate):
    with pytest.raises(ParameterError, match=r"^rate is out of range"):
        event_of(RunPart(noise_multiplier="2", rate=rate, steps=7, loader="shuffled"))
