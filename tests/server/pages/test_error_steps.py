"""How errors shrink: prices around the chosen one, and bars in proportion."""

from __future__ import annotations

import pytest

from discreet.server.pages.error_steps import error_steps_of, prices_around

FACTORS = (0.25, 0.5, 2.0, 4.0)


def found(*margins, fits=1):
    outputs = [{"name": f"o{place}", "margin": one} for place, one in enumerate(margins)]
    return {"epsilon": 0.5, "outputs": outputs, "fits": fits, "answered": False}


def test_prices_around_what_was_typed():
    assert prices_around("0.2", found(), FACTORS) == ("0.2", ["0.05", "0.1", "0.4", "0.8"])
    assert prices_around("", found(), FACTORS) == ("0.5", ["0.125", "0.25", "1", "2"])
    assert prices_around("1/3", found(), FACTORS) == ("", [])


@pytest.mark.parametrize("typed", ["nan", "inf", "-1", "0", "x", "9" * 5000])
def test_no_prices_around_what_is_none(typed):
    assert prices_around(typed, {**found(), "epsilon": None}, FACTORS) == ("", [])


def test_steps_are_in_proportion():
    steps = error_steps_of("1", {"1": found(10, None), "2": found(5, 4.0, fits=0), "0.5": found(20, 8.0)})
    assert [one.epsilon for one in steps] == ["0.5", "1", "2"]
    assert [one.shares for one in steps] == [(100, 100), (50, 100), (25, 50)]
    assert [one.is_chosen for one in steps] == [False, True, False]
    assert [one.fits for one in steps] == [True, True, False]


def test_previews_of_other_outputs_are_left_out():
    assert [one.epsilon for one in error_steps_of("1", {"1": found(1), "2": found(1, 2)})] == ["1"]
