"""Correlated noise over several steps: what may be recorded."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy.events import Event, MatrixGaussian

FITTING = {"noise_multiplier": 2, "sensitivity": "3/2", "steps": 10, "separation": 4, "most": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        {"noise_multiplier": 0},
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"steps": 0},
        {"separation": 0},
        {"separation": 11},
        {"most": 0},
        {"most": 4},  # steps 1, 5 and 9 are all that fit
    ],
    ids=str,
)
def test_what_no_run_can_have_is_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(ParameterError, match=f"^{name} "):
        MatrixGaussian(**{**FITTING, **wrong})


@pytest.mark.parametrize(
    "ends", [{"steps": 1, "separation": 1, "most": 1}, {"separation": 10, "most": 1}, {}]
)
def test_ends_of_the_ranges_are_accepted(ends):
    event = MatrixGaussian(**{**FITTING, **ends})
    assert Event.from_json(event.to_json()) == event
    assert event.standard_deviation == 3
    assert event.squared_mu == Fraction(1, 4)
