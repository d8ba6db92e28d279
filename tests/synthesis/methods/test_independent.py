from fractions import Fraction

import numpy as np
import pytest

from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.noise import replay
from discreet.synthesis import Independent
from discreet.synthesis.models import tree_fit
from discreet.synthesis.models.measured import MeasuredTable
from synthesis.charged_steps import COLUMNS, is_charged, made_up, watched


def test_every_column_is_measured_once_and_charged():
    mechanism = Independent(columns=COLUMNS, epsilon=1, delta=1e-9)
    with watched() as drawn:
        found = mechanism.release(made_up())
    assert is_charged(mechanism, drawn)
    assert [one.columns for one in found.measured] == [(0,), (1,), (2,), (3,)]
    assert found.private


def test_a_column_that_is_measured_twice_is_noticed():
    class Planted(Independent):
        def draw(self, tables):
            return (*super().draw(tables), self.column_noises[0].measured((0,), tables.table((0,))))

    mechanism = Planted(columns=COLUMNS, rho=1)
    with watched() as drawn:
        mechanism.draw(_Tables(mechanism))
    assert not is_charged(mechanism, drawn)


class _Tables:
    def __init__(self, mechanism):
        self.shape = mechanism.domain.shape

    def table(self, columns):
        return np.zeros([self.shape[column] for column in columns], np.int64)


def test_without_noise_worth_mentioning_columns_are_right():
    data = made_up(2000)
    with replay(1):
        found = Independent(columns=COLUMNS, rho=1000).release(data)
    assert not found.private
    assert found.total == 2000
    np.testing.assert_allclose(found.table(["age"])[:10], np.bincount(data["age"], minlength=10), atol=1)
    frame = found.to_pandas(seed=4)
    assert set(frame["city"].dropna()) <= {"a", "b", "c"}
    assert len(frame) == 2000


def test_the_last_digit_of_a_float_decides_no_fold(monkeypatch):
    # Folds of a stored answer are found again, perhaps where sums of floats are rounded otherwise. Two counts
    # are at the limit of three deviations.
    mechanism = Independent(columns={"x": Keys([1, 2, 3])}, rho=Fraction(1, 200))
    assert mechanism.variances == (100.0,)
    column = MeasuredTable(columns=(0,), counts=np.array([500, 30, 300, 30]), variance=100.0)
    folds = mechanism.folds([column])[0].places.tolist()
    for digit in (1 - 2**-52, 1 + 2**-52):
        monkeypatch.setattr(tree_fit, "rows_counted", lambda held, digit=digit: 860 * digit)
        assert mechanism.folds([column])[0].places.tolist() == folds


@pytest.mark.parametrize(
    "columns",
    [
        {"x": Keys(["only"])},
        {"x": Keys(range(10_000)), "y": Keys(range(10_000))},
        {f"x{place}": Bounds(0, 1) for place in range(200)},
    ],
)
@pytest.mark.parametrize("rho", [1e-9, 10])
def test_odd_tables_are_synthesized(columns, rho):
    data = {name: np.zeros(50) for name in columns}
    found = Independent(columns=columns, rho=rho).release(data)
    assert found.codes(20).shape == (20, len(columns))


def test_no_rows_and_only_missing_values_are_data():
    for values in ([], [None] * 50):
        found = Independent(columns={"x": Bounds(0, 9)}, rho=1).release({"x": np.array(values, object)})
        assert len(found.to_pandas(10)) == 10


def test_rows_of_a_person_multiply_the_noise():
    one, many = (Independent(columns=COLUMNS, rho=1, rows=rows) for rows in (1, 5))
    assert many.variances[0] == pytest.approx(25 * one.variances[0], rel=0.01)
    assert many.event.concentrated_rho == one.event.concentrated_rho == 1


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 1}, {}, {"rho": 0}, {"rho": 1, "rows": 0}, {"epsilon": 1, "delta": 2}]
)
def test_what_says_no_budget_is_refused(wrong):
    with pytest.raises(ParameterError):
        Independent(columns=COLUMNS, **wrong)
