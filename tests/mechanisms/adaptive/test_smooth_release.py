"""What releases with smooth sensitivity share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.smooth_release import (
    answer_lattice,
    checked_decay,
    promised_event,
    stated_guarantee,
)
from discreet.privacy.events import Approximate, Pure, ZeroConcentrated
from discreet.privacy.neighbors import REPLACE_ROW


def test_a_budget_is_stated_as_the_guarantee_and_promised_event_its_notion():
    assert promised_event(stated_guarantee(1, None, None, REPLACE_ROW)) == Pure(
        epsilon=1, neighbors=REPLACE_ROW
    )
    assert promised_event(stated_guarantee(1, "1e-6", None, REPLACE_ROW)) == Approximate(
        epsilon=1, delta="1e-6", neighbors=REPLACE_ROW
    )
    assert promised_event(stated_guarantee(None, None, 2, REPLACE_ROW)) == ZeroConcentrated(
        rho=2, neighbors=REPLACE_ROW
    )


def test_answers_are_multiples_of_the_grid_within_the_bounds():
    assert answer_lattice("-1.25", "1.1", "0.5") == (Fraction(1, 2), -2, 2)
    step, least, most = answer_lattice(0, 100, None)
    assert least == 0
    assert 2**31 < most <= 2**53
    assert most * step <= 100
    assert answer_lattice("0.1", "0.1", None)[1:] == (answer_lattice("0.1", "0.1", None)[2],) * 2


@pytest.mark.parametrize("wrong", [(1, 0, None), ("0.1", "0.2", 1), (0, 1, 3), (0, 2**60, 1)])
def test_bounds_without_a_lattice_are_refused(wrong):
    with pytest.raises(ParameterError):
        answer_lattice(*wrong)


@pytest.mark.parametrize("wrong", [-1, 200, "nan"])
def test_other_decays_are_refused(wrong):
    assert checked_decay("0.1") == Fraction(1, 10)
    with pytest.raises(ParameterError):
        checked_decay(wrong)
