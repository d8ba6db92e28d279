"""Regressors: the conventions of scikit-learn, declared facts alone, and fits of bad data."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge as PlainRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import discreet as dp
from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import LinearRegression, Ridge
from discreet.privacy.guarantees import ApproximateDP

KINDS = [LinearRegression, Ridge]
NOISE = "two fits of the same data differ by their noise"
EXPECTED = dict.fromkeys(
    [
        "check_regressor_data_not_an_array",
        "check_supervised_y_2d",
        "check_fit_idempotent",
        "check_regressors_int",
    ],
    NOISE,
) | {
    "check_estimators_empty_data_messages": "how many rows there are is private: none have a fit",
    "check_supervised_y_no_nan": "whether a response is a number is private: rows without one are left out",
}
FOR_CHECKS = {"epsilon": 100, "delta": 1e-3, "columns": (-20, 20), "target": (-200, 200)}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LinearRegression(**FOR_CHECKS)], expected_failed_checks=lambda _: EXPECTED)
def test_the_conventions_of_scikit_learn_hold(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([Ridge(**FOR_CHECKS)], expected_failed_checks=lambda _: EXPECTED)
def test_the_conventions_hold_with_a_penalty(estimator, check):
    check(estimator)


def made_up(count, source):
    age, city = source.uniform(0, 100, count), source.choice(["a", "b", "c"], count)
    frame = pandas.DataFrame({"age": age, "city": city})
    return frame, 10 + 0.5 * age + 20 * (city == "b") - 5 * (city == "c") + source.normal(0, 5, count)


FRAME, HEIGHTS = made_up(20_000, np.random.default_rng(1))
DECLARED = {"age": dp.Bounds(0, 120), "city": dp.Keys(["a", "b", "c"])}


def model(kind=LinearRegression, **options):
    stated = {"epsilon": 1, "delta": 1e-6, "columns": DECLARED, "target": dp.Bounds(0, 200)}
    return kind(**{**stated, **options})


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_predicts_and_says_what_it_cost(kind):
    found = model(kind).fit(FRAME, HEIGHTS)
    assert found.score(FRAME, HEIGHTS) > 0.85  # without noise 0.91
    assert found.guarantee_ == ApproximateDP(epsilon=1, delta=1e-6)
    assert accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9
    assert found.get_feature_names_out().tolist() == ["age", "city=b", "city=c"]
    assert found.coef_ == pytest.approx([0.5, 20, -5], abs=3)
    ends = found.intervals(Fraction(999_999, 1_000_000))
    assert ((ends[:, 0] < found.coef_) & (found.coef_ < ends[:, 1])).all()
    assert ((ends[:, 0] <= [0.5, 20, -5]) & (np.array([0.5, 20, -5]) <= ends[:, 1])).all() or kind is Ridge
    low, high = found.intercept_interval()
    assert low < found.intercept_ < high


def test_coefficients_are_in_the_units_of_the_columns():
    found = model().fit(FRAME, HEIGHTS)
    column = found.features_.columns[0]
    ages = FRAME["age"].clip(float(column.lower), float(column.upper))
    keys = (FRAME["city"].to_numpy()[:, None] == np.array(["b", "c"])).astype(float)
    assert np.allclose(
        found.coef_[0] * ages + keys @ found.coef_[1:] + found.intercept_, found.predict(FRAME)
    )


@pytest.mark.statistical
def test_with_little_noise_a_ridge_is_that_of_scikit_learn():
    source = np.random.default_rng(2)
    design = source.uniform(-1, 1, (20_000, 3))
    response = design @ [1.0, -2.0, 0.5] + 0.3 + source.normal(0, 0.1, 20_000)
    stated = {"epsilon": 100, "delta": 1e-2, "columns": (-1, 1), "target": (-5, 5)}
    for alpha in (0, 3_000):
        plain = PlainRidge(alpha=alpha).fit(design, response)
        found = Ridge(alpha, **stated).fit(design, response)
        assert found.coef_ == pytest.approx(plain.coef_, abs=0.02)
        assert found.intercept_ == pytest.approx(plain.intercept_, abs=0.02)


@pytest.mark.statistical
def test_without_an_intercept_lines_go_through_zero():
    source = np.random.default_rng(3)
    design = source.uniform(0, 10, (20_000, 2))
    response = design @ [1.0, 2.0] + source.normal(0, 1, 20_000)
    stated = {"epsilon": 1, "delta": 1e-6, "columns": (0, 20), "target": (0, 50), "fit_intercept": False}
    found = LinearRegression(**stated).fit(design, response)
    assert found.intercept_ == 0
    assert found.intercept_interval() == (0, 0)
    assert found.predict(np.zeros((1, 2))) == pytest.approx([0], abs=1e-9)
    assert found.coef_ == pytest.approx([1, 2], abs=0.2)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_keep_public_numbers_only(kind):
    found = model(kind).fit(FRAME, HEIGHTS)
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.predict(FRAME) == found.predict(FRAME)).all()
    assert all(np.size(value) < 100 for value in vars(found).values() if isinstance(value, np.ndarray))
    assert not hasattr(clone(found), "coef_")


def test_a_stored_answer_rebuilds_the_model():
    copy, learner = model()._of_table(
        DECLARED, ("height", dp.Bounds(0, 200)), epsilon=1, delta=1e-6, rho=None, rows=2
    )
    assert learner.columns == ("age", "city", "height")
    assert learner.rows == 2
    drawn = learner.draw([FRAME["age"].to_numpy(), FRAME["city"].to_numpy(), HEIGHTS])
    copy._keep(learner, json.loads(json.dumps(drawn)))
    other = clone(copy)
    other._keep(learner, drawn)
    assert (copy.coef_ == other.coef_).all()
    assert (copy.intervals() == other.intervals()).all()
    assert json.dumps(learner.parameters)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("ages", "cities", "heights"),
    [
        ([np.nan, np.inf, -np.inf, 1e300], ["a", None, 3, "z"], [np.nan, np.inf, -np.inf, 1e300]),
        ([0.0, 0.0], ["a", "a"], [0.0, 0.0]),
        ([5.0], ["b"], [3.0]),
        ([], [], []),
        ([5.0, 6.0], ["b", "b"], ["tall", None]),
        ([10**400, -(10**400)], ["b", "b"], [10**400, 1j]),
    ],
)
def test_bad_data_have_a_fit_like_any_other(kind, ages, cities, heights):
    frame = pandas.DataFrame(
        {name: pandas.Series(held, dtype=object) for name, held in {"age": ages, "city": cities}.items()}
    )
    for stated in ({}, {"delta": None}, {"fit_intercept": False}):
        found = model(kind, **stated).fit(frame, heights)
        assert np.isfinite(found.coef_).all()
        assert np.isfinite(found.predict(FRAME[:5])).all()
        assert not np.isnan(found.intervals()).any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": None}, "columns are not declared"),
        ({"target": None}, "target has no declared bounds"),
        ({"target": dp.Keys([1, 2])}, "target does not say bounds"),
        ({"target": 5}, "target does not say bounds"),
        ({"target": (3, 3)}, "no room"),
        ({"epsilon": None}, "one budget"),
        ({"kind": Ridge, "alpha": -1}, "alpha is negative"),
    ],
)
def test_what_is_not_stated_is_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        model(**options).fit(FRAME, HEIGHTS)


def test_a_target_of_keys_is_refused_at_the_door():
    with pytest.raises(ParameterError, match="not a number"):
        model()._declared_target("city", dp.Keys(["a", "b"]))


def test_responses_in_a_square_are_refused_without_their_values():
    with pytest.raises(ValueError, match="1d") as caught:
        model().fit(FRAME[:2], np.full((2, 2), 123456.0))
    assert "123456" not in str(caught.value)


def test_no_row_decides_how_another_is_read():
    """Lists in which one entry would change the type of all: the others are what they were."""
    rows, heights = [[1, "a"], [2, "b"]] * 50, [1.0, 2.0] * 50
    found = model(columns=[(0, 3), dp.Keys(["a", "b"])])
    alone = found.fit(rows, heights).features_
    expected = alone.encoded(found._columns_of(rows, reset=False))
    for odd in ([1, None], ["x", "a"], [1j, 10**400], [[], {}], [[1.0], "a"]):
        held = found._columns_of([*rows, odd], reset=False)
        assert (alone.encoded([one[:100] for one in held]) == expected).all()
        assert np.isfinite(found.fit([*rows, odd], [*heights, odd[0]]).coef_).all()


def test_a_fit_through_the_door_is_paid_once(tmp_path):
    frame = FRAME[:2000].assign(height=HEIGHTS[:2000], who=np.arange(2000) // 2)
    columns = {**DECLARED, "age": dp.Bounds(0, 120, step=1), "height": dp.Bounds(0, 200, step=1)}
    table = dp.Table(frame, person="who", limits=dp.Limits(rows=2), columns=columns)
    budget = dp.Budget(epsilon=10, delta=1e-5)
    clinic = dp.Curator({"visits": table}, budget=budget, ledger=tmp_path / "fits.ledger")
    asked = {"features": ["age", "city"], "target": "height", "epsilon": 4, "delta": 1e-6}
    found = clinic.fit(LinearRegression(), "visits", **asked)
    left = clinic.remaining.epsilon
    again = clinic.fit(LinearRegression(), "visits", **asked)
    assert clinic.remaining.epsilon == left
    assert (again.coef_ == found.coef_).all()
    assert (again.intervals() == found.intervals()).all()
    assert found.get_params()["rows"] == 2
    assert found.label_["charge"] == again.label_["charge"]
