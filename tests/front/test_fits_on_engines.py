"""Fits over tables of every engine: paid once, and the same model."""

from __future__ import annotations

import numpy as np
import pyarrow

import discreet as dp
from curator.doors import entries
from data import three_engines
from data.conftest import engine, postgres, postgres_engine, spark_engine  # noqa: F401
from discreet.learning import LogisticRegression
from front.test_fits import ASKED, COLUMNS, clinic_of, frame_of


def test_a_fit_over_every_engine_is_paid_once_and_learns_the_same(engine, place):  # noqa: F811
    """With little noise, and one row of each person, models of all engines predict alike."""
    frame = frame_of(300).drop(columns=["day"]).assign(who=range(300))
    columns = {name: one for name, one in COLUMNS.items() if name != "day"}
    arrow = pyarrow.Table.from_pylist(frame.to_dict("records"))
    found = []
    for made in (engine, three_engines.embedded()):
        table = made.table(arrow, person="who", limits=dp.Limits(rows=1), columns=columns)
        budget = dp.Budget(epsilon=10**7)
        clinic = clinic_of(place, table, name=f"{made.name}-{len(found)}.ledger", budget=budget)
        asked = {**ASKED, "epsilon": 10**6, "delta": None}
        found.append(clinic.fit(LogisticRegression(), "visits", **asked))
        again = clinic.fit(LogisticRegression(), "visits", **asked)
        assert (again.weights_ == found[-1].weights_).all()
        assert len(entries(clinic, "charge")) == 1
        clinic.close()
    judged = frame[["age", "city"]]
    assert np.abs(found[0].decision_function(judged) - found[1].decision_function(judged)).max() < 0.01
