"""Fits of a curator: facts from declarations, one charge, one stored model, and rows bounded by person."""

from __future__ import annotations

import logging
import pickle
from fractions import Fraction
from unittest import mock

import numpy as np
import pandas
import pyarrow
import pytest

import discreet as dp
from curator.doors import entries
from data import three_engines
from data.conftest import engine, postgres, postgres_engine, spark_engine  # noqa: F401
from discreet.curator.budget.charge_words import asked_in_words
from discreet.data.row_values import compute_rows
from discreet.data.salt import Salt
from discreet.errors import (
    BudgetExceeded,
    EngineFailed,
    ParameterError,
    UndeclaredColumn,
    UnsupportedQuery,
)
from discreet.front import rehearsal
from discreet.front.fits import _request
from discreet.learning import (
    AdditiveClassifier,
    GaussianNB,
    LinearSVC,
    LogisticRegression,
    ModelSelection,
    Pipeline,
    StandardScaler,
)
from learning.learner_audit import SENSITIVITY, audited

KINDS = [LogisticRegression, LinearSVC, AdditiveClassifier]
COLUMNS = {
    "age": dp.Bounds(0, 100, step=0.5),
    "city": dp.Keys(["a", "b"]),
    "state": dp.Keys(["ill", "well"]),
    "day": dp.Dates("2026-01-01", "2026-12-31"),
}
ASKED = {"features": ["age", "city"], "target": "state", "epsilon": 1, "delta": 1e-6}


def frame_of(count=400, *, people=150, seed=1):
    source = np.random.default_rng(seed)
    age = source.uniform(0, 100, count)
    return pandas.DataFrame(
        {
            "who": source.integers(0, people, count),
            "age": age,
            "city": source.choice(["a", "b", "c"], count),
            "state": np.where(age + source.normal(0, 15, count) > 50, "ill", "well"),
            "sick": age > 50,
            "weight": source.normal(70, 10, count),
            "note": source.choice(["canary", "bird"], count),
            "day": pandas.Timestamp("2026-03-01"),
        }
    )


FRAME = frame_of()


def table_of(frame=FRAME, *, rows=2, **options):
    stated = {"person": "who", "limits": dp.Limits(rows=rows), "columns": COLUMNS, **options}
    return dp.Table(frame, **stated)


def clinic_of(place, table=None, *, name="fits.ledger", budget=None):
    return dp.Curator(
        {"visits": table_of() if table is None else table},
        budget=budget or dp.Budget(epsilon=10, delta=1e-5),
        ledger=place / name,
    )


@pytest.fixture
def clinic(place):
    return clinic_of(place)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_is_paid_once_and_predicts(clinic, kind):
    asked = {**ASKED, "epsilon": 8}
    found = clinic.fit(kind(), "visits", **asked)
    spent, charges = clinic.remaining.epsilon, len(entries(clinic, "charge"))
    again = clinic.fit(kind(), "visits", **asked)
    assert (again.weights_ == found.weights_).all()
    assert (clinic.remaining.epsilon, len(entries(clinic, "charge"))) == (spent, charges == 1)
    assert (found.predict(FRAME[["age", "city"]]) == FRAME["state"]).mean() > 0.65
    assert found.label_["charge"] == again.label_["charge"]
    assert found.get_params()["rows"] == 2
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.predict(FRAME[["age", "city"]]) == found.predict(FRAME[["age", "city"]])).all()
    assert len(pickle.dumps(found)) < 40_000


def test_another_model_offer_limit_or_filter_is_another_fit(clinic):
    visits = clinic.table("visits")
    several = [
        (LogisticRegression(), "visits", {}),
        (AdditiveClassifier(bins=3), "visits", {}),
        (AdditiveClassifier(bins=4), "visits", {}),
        (LogisticRegression(), "visits", {"epsilon": 0.5}),
        (LogisticRegression(), "visits", {"limits": dp.Limits(rows=1)}),
        (LogisticRegression(), "visits", {"features": ["age"]}),
        (LogisticRegression(), visits.filter(dp.col("age") > 30), {}),
        (LogisticRegression(), visits.filter(dp.col("age") > 31), {}),
    ]
    for model, rows, changes in several:
        clinic.fit(model, rows, **{**ASKED, "epsilon": 0.1, **changes})
    assert len(entries(clinic, "charge")) == len(several)


def test_rows_are_those_of_a_question(clinic):
    """Filters, calculated columns and joins mean what they mean in a question; what they imply is used."""
    rows = (
        clinic.table("visits")
        .filter(dp.col("age") > 20)
        .derive(old=dp.col("age") > 60, heavy=dp.col("weight").clip(40, 120), decade=dp.col("age") / 10)
        .join(clinic.table("visits").per_person(visits=dp.count()))
    )
    found = clinic.fit(
        LogisticRegression(), rows, **{**ASKED, "features": ["old", "heavy", "decade", "visits", "sick"]}
    )
    assert found.get_feature_names_out().tolist()[:2] == ["old=False", "old=True"]
    assert found.n_features_in_ == 5
    assert "filter age > ?" in found.label_["plan"]


def test_the_ledger_and_the_log_name_no_literal(clinic, caplog):
    with caplog.at_level(logging.INFO, logger="discreet"):
        clinic.fit(LogisticRegression(), clinic.table("visits").filter(dp.col("age") > 41.5), **ASKED)
    (charge,) = entries(clinic, "charge")
    assert asked_in_words(charge.body) == "visits (version 1): noisy newton of state from age, city"
    assert "41.5" not in str(charge.body)
    assert "83/2" not in str(charge.body)
    assert "charge" in caplog.text
    assert "41.5" not in caplog.text


def test_a_preview_spends_nothing_and_says_what_the_noise_does(clinic):
    stated = {**ASKED, "rows": 10_000}
    found = clinic.preview_fit(LogisticRegression(), "visits", **stated)
    assert not entries(clinic, "charge")
    assert "Newton steps" in str(found)
    assert "at most 2 rows per person counted, age within 0 to 100" in str(found)
    few = clinic.preview_fit(LogisticRegression(), "visits", **{**stated, "rows": 100})
    assert few["mean slope"].margin == pytest.approx(100 * found["mean slope"].margin)
    less = clinic.preview_fit(LogisticRegression(), "visits", **{**stated, "limits": dp.Limits(rows=1)})
    assert less["mean slope"].margin == pytest.approx(found["mean slope"].margin / 2, rel=0.01)
    clinic.fit(LogisticRegression(), "visits", **ASKED)
    assert clinic.preview_fit(LogisticRegression(), "visits", **ASKED).answered


@pytest.mark.parametrize(
    ("changes", "refusal", "words"),
    [
        ({"features": ["weight"]}, UndeclaredColumn, r"needs bounds.*clip\(0, 100\).*Bounds\(lower, upper"),
        ({"features": ["note"]}, UndeclaredColumn, r"needs keys.*Keys\(\[...\]\)"),
        ({"features": ["day"]}, UndeclaredColumn, r"needs keys.*its year"),
        ({"features": ["who"]}, UndeclaredColumn, "person column"),
        ({"features": ["nothing"]}, UndeclaredColumn, "nothing"),
        ({"features": "age"}, ParameterError, "list of columns"),
        ({"features": []}, ParameterError, "list of columns"),
        ({"features": ["age", "age"]}, ParameterError, "twice"),
        ({"features": ["age", "state"]}, ParameterError, "one of the features"),
        ({"target": "weight"}, UndeclaredColumn, "the target 'weight' needs keys"),
        ({"target": None}, ParameterError, "target"),
        ({"limits": dp.Limits(rows=3)}, UnsupportedQuery, "no wider"),
        ({"limits": dp.Limits(rows=dp.AUTO, at_most=2)}, ParameterError, "number of rows"),
        ({"epsilon": None}, ParameterError, "epsilon"),
        ({"rho": 1}, ParameterError, "epsilon or rho"),
        ({"epsilon": 100}, BudgetExceeded, "budget"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_the_charge(clinic, changes, refusal, words):
    with pytest.raises(refusal, match=words):
        clinic.fit(LogisticRegression(), "visits", **{**ASKED, **changes})
    assert not entries(clinic, "charge")


def test_what_is_not_a_model_or_a_table_is_refused(clinic, place):
    from sklearn.linear_model import LogisticRegression as Plain

    with pytest.raises(ParameterError, match="private"):
        clinic.fit(Plain(), "visits", **ASKED)
    for wrong in ("nothing", FRAME, 7):
        with pytest.raises(ParameterError, match="table"):
            clinic.fit(LogisticRegression(), wrong, **ASKED)
    bought = table_of(limits=dp.Limits(rows=dp.AUTO, at_most=9))
    other = clinic_of(place, bought, name="bought.ledger")
    with pytest.raises(UnsupportedQuery, match=r"Limits\(rows=1\)"):
        other.fit(LogisticRegression(), "visits", **ASKED)
    other.fit(LogisticRegression(), "visits", **ASKED, limits=dp.Limits(rows=1))


class Own(GaussianNB):
    """A model that says that it is private."""


@pytest.mark.parametrize(
    "model",
    [
        Own(),
        Pipeline([("own", Own())]),
        ModelSelection([("a", GaussianNB()), ("own", Own())]),
        Pipeline([("s", StandardScaler()), ("best", ModelSelection([("p", Pipeline([("own", Own())]))]))]),
    ],
    ids=["model", "stage", "candidate", "deep"],
)
def test_a_model_with_a_foreign_part_is_refused_before_the_charge(clinic, model):
    asked = {"features": ["age"], "target": "state", "rho": Fraction(1, 10), "limits": dp.Limits(rows=1)}
    with pytest.raises(ParameterError, match="not proven"):
        clinic.fit(model, "visits", **asked)
    assert not entries(clinic, "charge")


def test_a_selection_within_a_pipeline_is_refused_before_the_charge_if_people_have_several_rows(place):
    clinic = clinic_of(place, budget=dp.Budget(rho=10))
    inner = ModelSelection([("a", GaussianNB()), ("b", LogisticRegression())])
    model = Pipeline([("scale", StandardScaler()), ("best", inner)])
    asked = {"features": ["age"], "target": "state", "rho": Fraction(1, 10)}
    with pytest.raises(ParameterError, match="whose they are"):
        clinic.fit(model, "visits", **asked)
    assert not entries(clinic, "charge")
    found = clinic.fit(model, "visits", **asked, limits=dp.Limits(rows=1))
    assert found.steps_[-1][1].chosen_ in ("a", "b")


def test_five_thousand_features_are_refused_before_the_charge(place):
    frame = pandas.DataFrame({"who": [1, 2], "y": [0, 1], "k": [0, 1]})
    columns = {"k": dp.Keys(range(5_000)), "y": dp.Keys([0, 1])}
    wide = clinic_of(place, dp.Table(frame, person="who", limits=dp.Limits(rows=1), columns=columns))
    with pytest.raises(ParameterError, match="columns"):
        wide.fit(LogisticRegression(), "visits", features=["k"], target="y", epsilon=1)
    assert not entries(wide, "charge")


def test_a_crash_between_charge_and_answer_is_answered_later(clinic):
    """What was charged stays charged; the next time is the first answer, and costs nothing."""
    target = "discreet.curator.request.fit_request.compute_rows"
    with mock.patch(target, side_effect=MemoryError("canary")), pytest.raises(EngineFailed) as caught:
        clinic.fit(LogisticRegression(), "visits", **ASKED)
    assert "canary" not in str(caught.value)
    left = clinic.remaining.epsilon
    found = clinic.fit(LogisticRegression(), "visits", **ASKED)
    again = clinic.fit(LogisticRegression(), "visits", **ASKED)
    assert (found.weights_ == again.weights_).all()
    assert clinic.remaining.epsilon == left
    assert len(entries(clinic, "charge")) == 1


def test_a_killed_process_leaves_its_charge_and_another_one_answers(place):
    clinic = clinic_of(place)
    with (
        mock.patch.object(clinic.ledger, "keep_answer", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        clinic.fit(LogisticRegression(), "visits", **ASKED)
    clinic.close()
    other = clinic_of(place)
    other.fit(LogisticRegression(), "visits", **ASKED)
    assert len(entries(other, "charge")) == 1


def test_a_sandbox_fits_made_up_rows_and_a_rehearsal_refuses(clinic):
    found = clinic.sandbox(rows=100).fit(LogisticRegression(), "visits", **ASKED)
    assert (found.label_["private"], found.label_["made_up"]) == (False, True)
    with pytest.raises(Exception, match="fits are paid for"):
        rehearsal.Rehearsal.answer_fit(clinic, None)


def test_the_same_rows_are_read_on_every_engine(engine, place):  # noqa: F811
    """With the same salt, learners get the same columns, whichever engine has them."""
    frame = frame_of(120, people=20).drop(columns=["day"])
    columns = {name: one for name, one in COLUMNS.items() if name != "day"}
    seen = []
    for made in (engine, three_engines.embedded()):
        arrow = pyarrow.Table.from_pylist(frame.to_dict("records"))
        table = made.table(arrow, person="who", limits=dp.Limits(rows=2), columns=columns)
        clinic = clinic_of(place, table, name=f"{made.name}-{len(seen)}.ledger")
        with (
            mock.patch("discreet.curator.request.fit_request.fresh_salt", return_value=Salt(value="salt")),
            mock.patch.object(
                type(learner_for(clinic)), "draw", lambda self, values: seen.append(values) or _none(self)
            ),
        ):
            clinic.fit(LogisticRegression(), "visits", **ASKED)
    rows = [sorted(map(str, zip(*(one.tolist() for one in values), strict=True))) for values in seen]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 20


def learner_for(clinic):
    offer = {"epsilon": 1, "delta": 1e-6, "rho": None}
    return _request(clinic, LogisticRegression(), "visits", ["age", "city"], "state", None, offer)[1].learner


def _none(learner):
    return {"weights": np.zeros((learner.newton.grid.columns, 1)).tolist()}


OWNER = pandas.DataFrame(
    {
        "who": -1,
        "age": [np.nan, np.inf, -np.inf, 1e300, 100.0, 0.0] * 50,
        "city": ["a", None, "b", "z", "a", ""] * 50,
        "state": ["ill", "well", "ill", "ill", "ill", None] * 50,
    }
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_who_owns_nearly_every_row_moves_no_release_too_far(place, kind):
    """Through plan, lots and learner: with and without this person, at one salt."""
    columns = {name: one for name, one in COLUMNS.items() if name != "day"}
    others = FRAME[["who", "age", "city", "state"]]
    seen = []
    for number, frame in enumerate((others, pandas.concat([others, OWNER], ignore_index=True))):
        table = dp.Table(frame, person="who", limits=dp.Limits(rows=2), columns=columns)
        clinic = clinic_of(place, table, name=f"{number}.ledger")
        offer = {"epsilon": 1, "delta": 1e-6, "rho": None}
        request = _request(clinic, kind(), "visits", ["age", "city"], "state", None, offer)[1]
        seen.append(compute_rows(request.plan, clinic.tables, salt=Salt(value="salt")))
        if number:
            with mock.patch("discreet.data.lots.sample_rows", lambda rows, limit, salt: rows):
                seen.append(compute_rows(request.plan, clinic.tables, salt=Salt(value="salt")))
    without, bounded, unbounded = seen
    assert len(bounded[0]) == len(without[0]) + 2
    assert audited(request.learner, without, bounded) == set()
    assert SENSITIVITY in audited(request.learner, without, unbounded)


def nobody(count):
    return {"who": range(count), "age": [5.0] * count, "city": ["a"] * count, "state": ["ill"] * count}


BAD = {
    "no rows": nobody(0),
    "one row": nobody(1),
    "one class": nobody(9),
    "a class with one person": {**nobody(9), "state": ["well"] + ["ill"] * 8},
    "constant columns": {**nobody(8), "state": ["well", "ill"] * 4},
    "nothing is a number": {
        **nobody(4),
        "age": [np.nan, np.inf, -np.inf, None],
        "state": ["ill", "well"] * 2,
    },
    "beyond all bounds": {**nobody(4), "age": [1e300, -1e300, 1e308, 5e-324], "state": ["ill", "well"] * 2},
    "no declared class": {**nobody(4), "state": ["dead", "unborn", None, ""]},
    "no declared key": {**nobody(4), "city": ["x", None, "", "y"]},
    "one person": {**nobody(50), "who": [7] * 50, "state": ["ill", "well"] * 25},
    "rows of nobody": {**nobody(4), "who": [None, None, None, None]},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_bad_data_have_a_fit_like_any_other(place, kind, data):
    """A usable model, with the charge and the label that any data would have."""
    frame = pandas.DataFrame(
        {
            "who": pandas.array(list(data["who"]), dtype="Int64"),
            "age": pandas.array(data["age"], dtype=float),
            "city": pandas.array(data["city"], dtype="string"),
            "state": pandas.array(data["state"], dtype="string"),
        }
    )
    columns = {name: one for name, one in COLUMNS.items() if name != "day"}
    table = dp.Table(frame, person="who", limits=dp.Limits(rows=2), columns=columns)
    clinic = clinic_of(place, table)
    found = clinic.fit(kind(), "visits", **ASKED)
    assert np.isfinite(found.weights_).all()
    assert set(found.predict(FRAME[["age", "city"]])) <= {"ill", "well"}
    (charge,) = entries(clinic, "charge")
    assert found.event_.to_object() == charge.body["event"]
