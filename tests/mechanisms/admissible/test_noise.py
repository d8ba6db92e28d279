"""What all admissible noises share."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import admissible
from discreet.mechanisms.admissible import (
    ArcsinhNormal,
    Cauchy,
    Gaussian,
    Laplace,
    LaplaceLogNormal,
    Student,
    UniformLogNormal,
)
from discreet.mechanisms.admissible.noise import check_budget

NOISES = [
    (Student(degrees=3), {"epsilon": 1}),
    (Cauchy(power=4), {"epsilon": 1}),
    (Laplace(), {"epsilon": 1, "delta": 1e-6}),
    (Gaussian(), {"epsilon": 1, "delta": 1e-6}),
    (ArcsinhNormal(spread=0.3), {"rho": 0.5}),
    (UniformLogNormal(spread=0.6), {"rho": 0.5}),
    (LaplaceLogNormal(spread=0.25), {"rho": 0.5}),
]


def test_d2_every_law_of_the_mission_is_here():
    assert {type(noise).__name__ for noise, _ in NOISES} == set(admissible.__all__) - {"Admissible"}
    notions = {type(noise).__name__: noise.notion for noise, _ in NOISES}
    assert notions == {
        "Student": "pure",
        "Cauchy": "pure",
        "Laplace": "approximate",
        "Gaussian": "approximate",
        "ArcsinhNormal": "concentrated",
        "UniformLogNormal": "concentrated",
        "LaplaceLogNormal": "concentrated",
    }


@pytest.mark.parametrize(("noise", "budget"), NOISES)
def test_the_largest_shift_falls_as_the_dilation_grows(noise, budget):
    shifts = [noise.largest_shift(dilation=d, **budget) for d in ("0", "0.001", "0.01", "0.02", "0.04", "3")]
    assert shifts == sorted(shifts, reverse=True)
    assert shifts[0] > 0
    assert shifts[-1] == 0


@pytest.mark.parametrize(("noise", "budget"), NOISES)
def test_the_largest_shift_grows_with_the_budget(noise, budget):
    larger = {name: value if name == "delta" else 2 * value for name, value in budget.items()}
    assert noise.largest_shift(dilation=0.01, **larger) > noise.largest_shift(dilation=0.01, **budget)


@pytest.mark.parametrize(("noise", "budget"), NOISES)
def test_bad_moves_are_refused(noise, budget):
    with pytest.raises(ParameterError):
        noise.largest_shift(dilation=-1, **budget)
    with pytest.raises(ParameterError):
        noise.budget(shift=float("nan"), dilation=0)


@pytest.mark.parametrize(("noise", "budget"), NOISES)
def test_noises_are_values(noise, budget):
    assert noise == type(noise)(**{name: getattr(noise, name) for name in noise.__dataclass_fields__})
    assert hash(noise) == hash(noise)
    assert "Fraction" in repr(noise) or "=" in repr(noise) or repr(noise).endswith("()")


def test_budgets_are_exactly_those_of_the_notion():
    assert check_budget("pure", epsilon=1, delta=None, rho=None) == (1,)
    with pytest.raises(ParameterError, match="delta"):
        check_budget("approximate", epsilon=1, delta=None, rho=None)
    with pytest.raises(ParameterError, match="rho"):
        check_budget("pure", epsilon=1, delta=None, rho=1)
    with pytest.raises(ParameterError, match="delta"):
        check_budget("approximate", epsilon=1, delta=1, rho=None)
