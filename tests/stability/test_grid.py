"""Real values on a grid have the profile of the integers that they are rounded to, scaled back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import stability
from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW

VALUES = [0.4, 1.26, -3.0, 2.5, 2.49, 99.0, -99.0]
STEPS = [2, 5, -12, 10, 10, 40, -40]  # of 1/4, within -10 and 10
STATISTICS = {
    "median": ({}, 1),
    "quantile": ({"level": 0.9}, 1),
    "minimum": ({}, 1),
    "maximum": ({}, 1),
    "interquartile_range": ({}, 1),
    "trimmed_mean": ({"trim": 0.2}, 1),
    "winsorized_mean": ({"trim": 0.2}, 1),
    "variance": ({}, 2),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_real_values_are_measured_on_their_grid(name):
    options, power = STATISTICS[name]
    statistic = getattr(stability, name)
    found = statistic(VALUES, lower=-10, upper=10.0, step=0.25, **options)
    steps = statistic(STEPS, lower=-40, upper=40, **options)
    factor = Fraction(1, 4) ** power
    assert found.value == steps.value * factor
    assert [found.local_at(k) for k in range(9)] == [steps.local_at(k) * factor for k in range(9)]
    assert found.smooth(1) == pytest.approx(steps.smooth(1) * factor)


@pytest.mark.parametrize("relation", [ADD_REMOVE_PERSON, REPLACE_ROW])
def test_a_mode_of_real_values_is_that_of_their_steps(relation):
    options = {"lower": -10, "upper": 10.0, "step": 0.25}
    assert stability.mode(VALUES, **options) == Fraction(5, 2)
    assert stability.mode([], **options) == -10
    assert stability.mode([np.nan, 3.0, np.inf, None], **options) == -10
    repeated = VALUES + [2.4] * 5
    far = stability.distance_to_unstable_mode(repeated, **options, relation=relation)
    steps = stability.distance_to_unstable_mode(STEPS + [10] * 5, lower=-40, upper=40, relation=relation)
    assert far == steps > 0
    assert stability.distance_to_unstable_mode([0.5], lower=1, upper=1, step="0.1") == stability.NEVER
    with pytest.raises(ParameterError, match="upper is not a multiple of step"):
        stability.mode([1.0], lower=0, upper=1, step=0.3)


def test_a_step_that_is_no_float_maps_everything_into_the_bounds():
    assert stability.mode([1.0, -1.0, 0.0, 5.0], lower=0, upper=0, step=Fraction(1, 10**400)) == 0


def test_what_is_no_number_counts_as_the_lower_bound():
    values = [np.nan, np.inf, -np.inf, 1e308, None]
    found = stability.minimum(values, lower=-1, upper=1, step="1e-3")
    assert found.value == -1
    assert stability.median([np.nan, np.nan, 1.0], lower=-1, upper=1, step=0.5).value == -1


@pytest.mark.parametrize(
    ("lower", "upper", "name"), [(0.1, 1, "lower"), (0, 1.1, "upper"), (0, 2**60, "upper")]
)
def test_bounds_lie_on_the_grid(lower, upper, name):
    with pytest.raises(ParameterError, match=rf"^{name} is not a multiple of step"):
        stability.median([1.0], lower=lower, upper=upper, step=0.25)


def test_without_a_step_floats_are_refused_as_before():
    with pytest.raises(ParameterError, match="integers"):
        stability.median([1.5], lower=0, upper=2)
