"""Learners: what a fit needs to know before rows are read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from discreet.curator.request.learner import Learner
from discreet.data import Bounds, Keys
from discreet.learning import AdditiveClassifier, LinearSVC, LogisticRegression

KINDS = [LogisticRegression, LinearSVC, AdditiveClassifier]


def learner_of(kind, rows=1, classes=("ill", "well"), **stated):
    columns = {"age": Bounds(0, 100), "city": Keys(["a", "b"])}
    stated = stated or {"epsilon": 1, "delta": 1e-6}
    offer = {"epsilon": None, "delta": None, "rho": None} | stated
    return kind()._of_table(columns, ("state", Keys(classes)), rows=rows, **offer)[1]


def test_a_learner_without_its_parts_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        Learner()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stated", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}])
def test_everything_is_known_before_rows_are_read(kind, stated):
    one, again = (learner_of(kind, **stated) for _ in range(2))
    assert one.event == again.event
    assert json.dumps(one.parameters) == json.dumps(again.parameters)
    assert one.columns == ("age", "city", "state")
    assert one.rows == 1
    assert all(found.standard_deviation > 0 for found in one.expectations(1000))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_drawn_is_plain_json_and_never_fails(kind):
    learner = learner_of(kind)
    odd = [np.array([np.nan, 1e300, None, "x"], dtype=object)] * 3
    for values in (odd, [np.empty(0)] * 3):
        drawn = learner.draw(values)
        assert json.loads(json.dumps(drawn)) == drawn


@pytest.mark.parametrize("kind", KINDS)
def test_what_changes_the_meaning_changes_the_parameters(kind):
    found = [learner_of(kind), learner_of(kind, rows=2), learner_of(kind, classes=("ill", "sick"))]
    assert len({json.dumps(one.parameters) for one in found}) == 3
