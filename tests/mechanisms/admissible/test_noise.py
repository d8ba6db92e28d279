"""What all admissible noises share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import admissible
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.mechanisms.admissible import (
    ArcsinhNormal,
    Cauchy,
    GaussianNoise,
    LaplaceLogNormal,
    LaplaceNoise,
    Student,
    UniformLogNormal,
)
from discreet.mechanisms.admissible.noise import LARGEST_DILATION, check_budget

NOISES = [
    (Student(degrees=3), {"epsilon": 1}),
    (Cauchy(power=4), {"epsilon": 1}),
    (LaplaceNoise(), {"epsilon": 1, "delta": 1e-6}),
    (GaussianNoise(), {"epsilon": 1, "delta": 1e-6}),
    (ArcsinhNormal(spread=0.3), {"rho": 0.5}),
    (UniformLogNormal(spread=0.6), {"rho": 0.5}),
    (LaplaceLogNormal(spread=0.25), {"rho": 0.5}),
]


def test_every_law_that_smooth_sensitivity_needs_is_here():
    assert {type(noise).__name__ for noise, _ in NOISES} == set(admissible.__all__) - {"Admissible"}
    notions = {type(noise).__name__: noise.notion for noise, _ in NOISES}
    assert notions == {
        "Student": "pure",
        "Cauchy": "pure",
        "LaplaceNoise": "approximate",
        "GaussianNoise": "approximate",
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


@pytest.mark.parametrize(("noise", "budget"), NOISES)
def test_more_than_is_of_use_is_not_used(noise, budget):
    """Budgets without measure get an answer soon: that of a large one. Beyond all reason they are refused."""
    (name,) = set(budget) - {"delta"}
    large, larger = ({**budget, name: value} for value in (10**6, 10**9))
    shift = noise.largest_shift(dilation=1, **large)
    assert 0 < shift == noise.largest_shift(dilation=1, **larger)
    with pytest.raises(ParameterError, match=f"{name} is too large"):
        noise.largest_shift(dilation=1, **{**budget, name: 10**400})


@pytest.mark.few(1)
@pytest.mark.parametrize("budget", [{"epsilon": 10**5}, {"epsilon": 10**5, "delta": 1e-6}, {"rho": 10**8}])
def test_a_large_offer_is_charged_in_full_or_less(budget):
    mechanism = SmoothSensitivity.best(lower=0, upper=1, decay=10, **budget)
    assert mechanism.shift > 1
    hinted = SmoothSensitivity.best(lower=0, upper=1, sensitivity_hint=[1, 2, 3], **budget)
    assert hinted.decay > 0
    name = "rho" if "rho" in budget else "epsilon"
    with pytest.raises(ParameterError, match=f"{name} is too large"):
        SmoothSensitivity.best(lower=0, upper=1, sensitivity_hint=[1], **{**budget, name: 10**400})


@pytest.mark.parametrize(("noise", "budget"), NOISES)
def test_moves_beyond_measure_are_refused(noise, budget):
    needed = {"epsilon": 1} if noise.notion == "approximate" else {}
    for move, name in (((1, 10**6), "dilation"), ((10**101, 0), "shift")):
        with pytest.raises(ParameterError, match=f"{name} is too large"):
            noise.budget(shift=move[0], dilation=move[1], **needed)
    assert noise.largest_shift(dilation=LARGEST_DILATION, **budget) == 0
    with pytest.raises(ParameterError, match="decay"):
        SmoothSensitivity(noise=noise, decay=10**6, lower=0, upper=1, **budget)


@pytest.mark.parametrize(("noise", "budget"), NOISES)
@pytest.mark.parametrize("tiny", [Fraction(1, 10**97), Fraction(1, 10**400)])
def test_tiny_moves_cost_little_and_something(noise, budget, tiny):
    shift = noise.largest_shift(dilation=tiny, **budget)
    assert float(shift) == pytest.approx(float(noise.largest_shift(dilation=0, **budget)))
    needed = {"epsilon": 1} if noise.notion == "approximate" else {}
    for move in ((tiny, 0), (0, tiny), (tiny, tiny)):
        promise = noise.budget(shift=move[0], dilation=move[1], **needed)
        cost = {"pure": "epsilon", "approximate": "delta", "concentrated": "rho"}[noise.notion]
        if noise.notion == "approximate" and not move[1] and noise == LaplaceNoise():
            assert promise.delta == 0
        else:
            assert 0 < getattr(promise, cost) < Fraction(1, 10**6)


@pytest.mark.parametrize("noise", [Cauchy(power=2), Cauchy(power=6), Student(degrees=3)])
@pytest.mark.parametrize("shift", [10**5, 10**12, 10**100])
def test_far_shifts_cost_as_their_logarithm(noise, shift):
    epsilon = noise.budget(shift=shift, dilation=Fraction(1, 10)).epsilon
    power = 2 if noise == Cauchy(power=2) else 6 if isinstance(noise, Cauchy) else 4
    assert float(epsilon) == pytest.approx(power * len(str(shift)[1:]) * 2.302585, rel=0.1)
