"""Fits of a curator without a target, of stages, and of several candidates: paid once, stored once."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import discreet as dp
from curator.doors import entries
from discreet.errors import ParameterError
from discreet.learning import (
    PCA,
    GaussianNB,
    KMeans,
    LogisticRegression,
    ModelSelection,
    Pipeline,
    StandardScaler,
)

SOURCE = np.random.default_rng(4)
FRAME = pandas.DataFrame(
    {
        "who": np.arange(300) // 2,
        "age": SOURCE.uniform(0, 100, 300),
        "weight": SOURCE.normal(70, 10, 300),
        "state": SOURCE.choice(["ill", "well"], 300),
    }
)
COLUMNS = {
    "age": dp.Bounds(0, 100, step=0.5),
    "weight": dp.Bounds(0, 150, step=0.5),
    "state": dp.Keys(["ill", "well"]),
}
FEATURES = {"features": ["age", "weight"], "epsilon": 1, "delta": 1e-6}
STAGES = Pipeline([("s", StandardScaler()), ("l", LogisticRegression())])
MODELS = [
    (StandardScaler(), None),
    (PCA(1), None),
    (KMeans(3), None),
    (GaussianNB(), "state"),
    (STAGES, "state"),
]


@pytest.fixture
def clinic(place):
    table = dp.Table(FRAME, person="who", limits=dp.Limits(rows=2), columns=COLUMNS)
    budget = dp.Budget(epsilon=20, delta=1e-4)
    return dp.Curator({"visits": table}, budget=budget, ledger=place / "moments.ledger")


@pytest.mark.parametrize(("model", "target"), MODELS, ids=lambda one: type(one).__name__)
def test_a_fit_is_paid_once_and_rebuilt_from_what_is_stored(clinic, model, target):
    asked = {**FEATURES, **({"target": target} if target else {})}
    found = clinic.fit(model, "visits", **asked)
    again = clinic.fit(model, "visits", **asked)
    assert len(entries(clinic, "charge")) == 1
    made = "predict" if target else "transform"
    held = FRAME[["age", "weight"]]
    assert (getattr(found, made)(held) == getattr(again, made)(held)).all()
    assert found.event_ == again.event_
    assert found.get_params()["rows"] == 2


def test_candidates_are_judged_on_people_with_one_row_each(clinic):
    candidates = [("bayes", GaussianNB()), ("line", LogisticRegression())]
    with pytest.raises(ParameterError, match="people are held out"):
        clinic.fit(ModelSelection(candidates), "visits", target="state", **FEATURES)
    assert not entries(clinic, "charge")
    limited = {**FEATURES, "limits": dp.Limits(rows=1)}
    found = clinic.fit(ModelSelection(candidates), "visits", target="state", **limited)
    assert found.chosen_ in ("bayes", "line")
    assert len(entries(clinic, "charge")) == 1
