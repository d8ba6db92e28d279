"""Votes through a curator: one charge before teachers answer, one stored answer, people in shards."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LogisticRegression

import discreet as dp
from curator.doors import entries
from discreet.data.language.plan import RowPlan
from discreet.errors import BudgetExceeded, EngineFailed, ParameterError
from discreet.front.fits import _request
from discreet.learning import CostRelease, GNMax, TeacherVotes
from discreet.learning.teachers.ensemble import Ensemble

COLUMNS = {"age": dp.Bounds(0, 100, step=0.5), "city": dp.Keys(["a", "b"]), "state": dp.Keys(["ill", "well"])}
ASKED = {"features": ["age", "city"], "target": "state", "rho": 5}
PUBLIC = pandas.DataFrame({"age": [5.0, 95.0, 20.0, 80.0], "city": ["a", "b", "b", "a"]})


def clinic(tmp_path, *, rows=3, budget=100):
    source = np.random.default_rng(1)
    age = source.uniform(0, 100, 600)
    frame = pandas.DataFrame(
        {
            "who": source.integers(0, 250, 600),
            "age": age,
            "city": source.choice(["a", "b", "c"], 600),
            "state": np.where(age > 50, "ill", "well"),
        }
    )
    table = dp.Table(frame, person="who", limits=dp.Limits(rows=rows), columns=COLUMNS)
    return dp.Curator({"visits": table}, budget=dp.Budget(rho=budget), ledger=tmp_path / "votes.ledger")


def votes(**options):
    return TeacherVotes(**{"model": LogisticRegression(), "public": PUBLIC, "teachers": 20, **options})


def test_votes_are_charged_before_teachers_answer(tmp_path):
    curator = clinic(tmp_path)
    seen = []

    def fails(*_, **__):
        seen.append(len(entries(curator, "charge")))
        raise RuntimeError("a teacher saw a row")

    with mock.patch.object(Ensemble, "votes", fails), pytest.raises(EngineFailed):
        curator.fit(votes(), "visits", **ASKED)
    assert seen == [1]
    with pytest.raises(EngineFailed):  # it has given its one answer: it is not drawn again, and stays paid
        curator.fit(votes(), "visits", **ASKED)
    assert len(entries(curator, "charge")) == 1


def test_the_same_votes_are_free_and_others_are_not(tmp_path):
    curator = clinic(tmp_path, budget=8)
    found = curator.fit(votes(), "visits", **ASKED)
    assert found.labels_.tolist() == ["well", "ill", "well", "ill"]
    assert found.answered_.all()
    with mock.patch.object(Ensemble, "votes", side_effect=AssertionError):
        again = curator.fit(votes(), "visits", **ASKED)
    assert again.labels_.tolist() == found.labels_.tolist()
    for other in (
        votes(public=PUBLIC[::-1]),
        votes(teachers=21),
        votes(model=LogisticRegression(C=2)),
        votes(threshold=0.6),
    ):
        with pytest.raises(BudgetExceeded):
            curator.fit(other, "visits", **ASKED)
    assert found.student(LogisticRegression()).predict(found.public_rows_).tolist() == ["well", "ill"] * 2


def test_the_cost_is_charged_stored_and_shown_with_the_answers(tmp_path):
    curator = clinic(tmp_path)
    cost = CostRelease(order=4, rho="0.5", decay="0.5")
    found = curator.fit(votes(cost=cost, teachers=40), "visits", **ASKED)
    (charge,) = entries(curator, "charge")
    answers = GNMax(sigma=found.noise_.sigma, teachers=40, classes=2).event(len(PUBLIC))
    assert charge.body["event"] == (answers + cost.event).to_object()
    assert found.event_.concentrated_rho <= 5
    assert found.cost_.order == 4
    assert 0 < found.cost_.divergence <= found.cost_.worst
    assert found.cost_.epsilon(1e-5) > 0
    with mock.patch.object(Ensemble, "votes", side_effect=AssertionError):
        again = curator.fit(votes(cost=cost, teachers=40), "visits", **ASKED)
    assert again.cost_ == found.cost_  # one stored answer: drawn again it would be averaged
    curator.fit(votes(teachers=40), "visits", **ASKED)
    assert len(entries(curator, "charge")) == 2


def test_votes_without_a_cost_keep_their_identity(tmp_path):
    """Answers that were stored before costs could be released stay answers."""
    offer = {"epsilon": None, "delta": None, "rho": 1}
    _, request = _request(clinic(tmp_path), votes(), "visits", ["age", "city"], "state", None, offer)
    assert "cost" not in request.learner.parameters


def test_rows_of_a_person_share_a_shard_and_the_plan_says_so(tmp_path):
    curator = clinic(tmp_path)
    _, request = _request(
        curator, votes(), "visits", ["age", "city"], "state", None, {"epsilon": None, "delta": None, "rho": 1}
    )
    assert request.plan.shards == 20 == request.learner.shards
    assert request.learner.rows == 3
    with pytest.raises(ParameterError, match="does not cover"):
        type(request)(
            plan=RowPlan(
                source=request.plan.source,
                columns=request.plan.columns,
                target="state",
                rows=3,
                reader=request.plan.reader,
            ),
            versions=request.versions,
            learner=request.learner,
        )
    assert "teachers" in request.learner.words
    assert request.expectations(1000)[0].standard_deviation > 0


def test_an_empty_public_set_is_refused_before_anything_is_charged(tmp_path):
    curator = clinic(tmp_path)
    with pytest.raises(ParameterError, match="public"):
        curator.fit(votes(public=PUBLIC[:0]), "visits", **ASKED)
    assert not entries(curator, "charge")
