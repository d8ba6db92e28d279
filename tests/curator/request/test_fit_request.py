"""Requests for fits: what identifies them, what covers their rows, and what they keep."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest import mock

import numpy as np
import pyarrow
import pytest

from discreet.curator.request.fit_request import FitRequest
from discreet.curator.request.learner import Learner
from discreet.data import Bounds, Keys, Limits, Table
from discreet.data.language.measures import Axis
from discreet.data.language.plan import RowPlan
from discreet.data.language.relations import Source
from discreet.errors import EngineFailed, LedgerTampered, ParameterError, UnsupportedQuery
from discreet.learning import LogisticRegression, Pipeline
from discreet.learning.training.newton_learner import NewtonLearner

FACTS = {"x": Bounds(0, 10), "y": Keys(["ill", "well"])}
ROWS = [{"who": n % 5, "x": n % 11, "y": "ill" if n % 11 > 5 else "well"} for n in range(40)]


def table_of(rows=3, version="1"):
    arrow = pyarrow.Table.from_pylist(ROWS)
    return Table(arrow, person="who", limits=Limits(rows=rows), columns=FACTS, version=version)


def learner_of(rows=3, epsilon=1):
    stated = {"epsilon": epsilon, "delta": None, "rho": None}
    model = LogisticRegression(method="newton")
    return model._of_table({"x": FACTS["x"]}, ("y", FACTS["y"]), rows=rows, **stated)[1]


def request_of(rows=3, learner=None, **changes):
    axes = tuple(Axis(column=name, values=values) for name, values in FACTS.items())
    plan = RowPlan(source=Source(table="t"), columns=axes, target="y", rows=rows, reader="noisy_newton")
    stated = {"plan": plan, "versions": (("t", "1"),), "learner": learner or learner_of(rows), **changes}
    return FitRequest(**stated)


def test_a_learner_for_fewer_rows_or_other_columns_is_refused():
    request_of(rows=2, learner=learner_of(3))  # for more rows than are taken: covered
    with pytest.raises(ParameterError, match="does not cover"):
        request_of(rows=3, learner=learner_of(2))
    plan = request_of().plan
    with pytest.raises(ParameterError, match="does not cover"):
        request_of(plan=replace(plan, columns=plan.columns[::-1]))
    with pytest.raises(ParameterError, match="does not cover"):
        request_of(plan=replace(plan, reader="another"))
    with pytest.raises(ParameterError, match="versions"):
        request_of(versions=())


def test_only_learners_of_the_package_are_taken():
    class Own(Learner):
        kind, event, guarantee, parameters = "own", None, None, {}
        words, columns, rows = "", ("x", "y"), 3

        def draw(self, values):
            return {"rows": [list(map(str, one)) for one in values]}

        def expectations(self, rows):
            return ()

    for wrong in (Own(), object()):
        with pytest.raises(ParameterError, match="proven"):
            request_of(learner=wrong)


def test_a_learner_is_proven_only_if_all_that_it_is_made_of_are():
    """Planted: a stage of a pipeline makes a learner of its own."""

    class Own(NewtonLearner):
        __slots__ = ()

    def asked():
        model = Pipeline([("inner", Pipeline([("say", LogisticRegression())]))])
        stated = {"epsilon": None, "delta": None, "rho": 1, "rows": 3}
        learner = model._of_table({"x": FACTS["x"]}, ("y", FACTS["y"]), **stated)[1]
        axes = tuple(Axis(column=name, values=values) for name, values in FACTS.items())
        plan = RowPlan(source=Source(table="t"), columns=axes, target="y", rows=3, reader="pipeline")
        return FitRequest(plan=plan, versions=(("t", "1"),), learner=learner)

    assert type(asked().learner.planned[0].planned[0]) is NewtonLearner
    with (
        mock.patch("discreet.learning.estimators.linear_methods.NewtonLearner", Own),
        pytest.raises(ParameterError, match="proven"),
    ):
        asked()


def test_what_was_declared_otherwise_is_refused():
    request_of().check({"t": table_of()})
    with pytest.raises(ParameterError, match="other tables"):
        request_of().check({"t": table_of(version="2")})
    with pytest.raises(UnsupportedQuery, match="limits"):
        request_of().check({"t": table_of(rows=4)})


def test_identities_differ_where_the_answer_could():
    plan = request_of().plan
    several = [
        request_of(),
        request_of(rows=2),
        request_of(learner=learner_of(4)),
        request_of(learner=learner_of(epsilon=2)),
        request_of(plan=replace(plan, target=None)),
        request_of(versions=(("t", "2"),)),
    ]
    assert len({one.identity for one in several}) == len(several)
    assert request_of().identity == request_of().identity
    assert request_of().digest(b"a" * 32, {"t": "1"}) != request_of().digest(b"a" * 32, {"t": "2"})


def test_what_is_drawn_is_read_back_and_nothing_else_is():
    request = request_of()
    content = request.draw({"t": table_of()})
    drawn, private = request.drawn_of(content)
    assert private
    assert np.shape(drawn["weights"]) == (2, 1)
    assert json.loads(content)["drawn"] == drawn
    for wrong in (b"", b"[]", b'{"drawn":[],"private":true}', b'{"private":true}', b"\xff"):
        with pytest.raises(LedgerTampered):
            request.drawn_of(wrong)


@pytest.mark.parametrize("failing", ["compute_rows", "fresh_salt"])
def test_failures_say_nothing(failing):
    words = "secret 41"
    with (
        mock.patch(f"discreet.curator.request.fit_request.{failing}", side_effect=ValueError(words)),
        pytest.raises(EngineFailed) as caught,
    ):
        request_of().draw({"t": table_of()})
    assert words not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "wrong", [MemoryError("secret 41"), {"weights": float("nan")}, {"weights": object()}]
)
def test_a_draw_that_failed_is_the_one_answer(wrong):
    # Drawing again would be another draw for the same charge, and whether one fails depends on its noise.
    request = request_of()
    given = {"side_effect": wrong} if isinstance(wrong, Exception) else {"return_value": wrong}
    with mock.patch.object(type(request.learner), "draw", **given):
        content = request.draw({"t": table_of()})
    assert json.loads(content) == {"drawn": None, "private": True}
    with pytest.raises(EngineFailed) as caught:
        request.drawn_of(content)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_words_and_names():
    request = request_of()
    assert request.names == ("y",)
    assert "Newton steps" in request.remark
    assert float(request.confidence) == 0.95
    assert len(request.expectations(100)) == 2
