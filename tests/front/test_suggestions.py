"""Bounds and limits that are bought: close to what the data would say, and paid for."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.errors import ParameterError


@pytest.fixture
def clinic(tmp_path):
    random = np.random.default_rng(3)
    rows = 20_000
    frame = pandas.DataFrame(
        {
            "patient": np.repeat(np.arange(5000), 4),
            "cost": random.gamma(2, 50, rows),
            "change": random.normal(0, 3, rows),
            "age": random.integers(18, 90, rows),
            "note": "x",
        }
    )
    visits = dp.Table(frame, person="patient", limits=dp.Limits(rows=4))
    with_budget = dp.Curator({"visits": visits}, budget=dp.Budget(epsilon=10), ledger=tmp_path / "ledger")
    yield with_budget
    with_budget.close()


def test_bounds_hold_most_values_between_round_numbers(clinic):
    """A value beyond 500 has a chance of 0.0005, one of 18 to 89 lies between 0 and 100."""
    cost = clinic.suggest_bounds("visits", "cost", epsilon=2).declared
    assert (float(cost.lower), float(cost.upper)) in {(0, 500), (0, 1000)}
    assert clinic.suggest_bounds("visits", "age", epsilon=2).declared == dp.Bounds(0, 100)
    change = clinic.suggest_bounds("visits", "change", epsilon=2).declared
    assert -20 <= change.lower <= -10 < 10 <= change.upper <= 20


@pytest.mark.parametrize("limits", [dp.Limits(rows=1000), dp.Limits(groups=50, rows_per_group=20)])
def test_loose_limits_do_not_make_bounds_cut_the_data(tmp_path, limits):
    """Noise for a thousand rows of a person hides most cells: leaving those out cut a third of the values."""
    values = np.random.default_rng(3).gamma(2, 50, 20_000)
    frame = pandas.DataFrame({"patient": np.repeat(np.arange(5000), 4), "cost": values})
    tables = {"visits": dp.Table(frame, person="patient", limits=limits)}
    clinic = dp.Curator(tables, budget=dp.Budget(epsilon=50), ledger=tmp_path / "loose")
    for epsilon in (2, 1, 0.5):
        found = clinic.suggest_bounds("visits", "cost", epsilon=epsilon)
        lower, upper = float(found.declared.lower), float(found.declared.upper)
        assert np.mean((values < lower) | (values > upper)) < 0.02
        assert upper <= 1000
        assert "of values are clipped, at most" in str(found)
    clinic.close()


def test_suggestions_are_declared_in_one_word(clinic):
    bounds = clinic.suggest_bounds("visits", "cost", epsilon=1)
    limits = clinic.suggest_limits("visits", epsilon=1)
    clinic.apply(bounds, limits)
    declared = clinic.tables["visits"]
    assert declared.columns["cost"] == bounds.declared
    assert declared.limits == limits.declared
    assert clinic.spent.requests == 2
    answer = clinic.ask("SELECT AVG(cost) AS m FROM visits", epsilon=2)
    assert abs(answer.value - 100) < 10
    with pytest.raises(ParameterError):
        clinic.apply("cost")


def test_limits_are_what_most_persons_keep_to(clinic):
    assert clinic.suggest_limits("visits", epsilon=2).declared == dp.Limits(rows=5)


def test_what_is_suggested_was_paid_for(clinic):
    found = clinic.suggest_bounds("visits", "age", epsilon=1)
    assert clinic.spent.epsilon == 1
    assert found.release.event.pure_epsilon == 1
    assert repr(found) == f"Suggestion({found.declared!r})"


def test_noise_alone_is_no_suggestion(clinic):
    with pytest.raises(ParameterError, match="may be noise"):
        clinic.suggest_bounds("visits", "age", epsilon=0.0001)


@pytest.mark.parametrize(
    ("table", "column", "options"),
    [
        ("staff", "age", {}),
        ("visits", "note", {}),
        ("visits", "none", {}),
        ("visits", "age", {"coverage": 1}),
    ],
)
def test_bad_input(clinic, table, column, options):
    with pytest.raises(ParameterError):
        clinic.suggest_bounds(table, column, epsilon=1, **options)
    assert clinic.spent.requests == 0
