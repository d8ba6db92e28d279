"""Marginals through the curator: complete rows, agreeing tables, one price."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.curator import Draw
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from queries.counts.surveys import CITIES, HUGE, curator, rounded_cost, survey


@pytest.fixture
def frame():
    return survey()


@pytest.fixture
def clinic(tmp_path, frame):
    return curator(tmp_path, frame)


@pytest.fixture
def complete(frame):
    """Rows with a cell in every column that is asked."""
    known = frame[frame["city"].isin(CITIES) & frame["sex"].notna() & frame["cost"].notna()].copy()
    known["age"] = known["age"].clip(0, 110)
    known["cost"] = rounded_cost(known)
    return known


QUESTION = {"columns": ["city", "sex", "age", "cost"], "width": {"age": 20, "cost": 50}}


def test_counts_are_those_of_complete_rows(clinic, complete):
    tables = clinic.ask(dp.marginals("visits", **QUESTION), epsilon=HUGE)
    bern = complete["city"] == "Bern"
    young = (complete["age"] >= 20) & (complete["age"] < 60)
    assert tables.count(city="Bern").value == pytest.approx(bern.sum(), abs=3)
    assert tables.count(city="Bern", age=(20, 60)).value == pytest.approx((bern & young).sum(), abs=3)
    assert tables.count(city=["Bern", "Taipei"], sex="f").value == pytest.approx(
        (complete["city"].isin(["Bern", "Taipei"]) & (complete["sex"] == "f")).sum(), abs=3
    )
    assert tables.count(age=(20, 60), cost=(50, None)).value == pytest.approx(
        (young & (complete["cost"] >= 50)).sum(), abs=3
    )
    assert tables.count().value == pytest.approx(len(complete), abs=3)


def test_tables_agree_and_come_as_frames(clinic, complete):
    tables = clinic.ask(dp.marginals("visits", **QUESTION), epsilon=1)
    by_city, _ = tables.cells("city", "sex")
    also, _ = tables.cells("city", "age")
    assert np.allclose(by_city.sum(axis=1), also.sum(axis=1))
    alone, margin = tables.cells("city")
    assert np.allclose(alone, by_city.sum(axis=1))
    low, high = tables.count(city="Bern").interval()
    assert high - low == pytest.approx(2 * margin)
    swapped, _ = tables.cells("sex", "city")
    assert np.allclose(swapped, by_city.T)
    frame = tables.table("sex", "city").to_pandas()
    assert list(frame) == ["sex", "city", "n", "n_lower", "n_upper"]
    assert np.allclose(frame["n"], swapped.reshape(-1))
    everything = tables.to_pandas()
    assert len(everything) == tables.design.expected_error.queries
    of_one = everything[everything["table"] == "city, sex"]
    assert np.allclose(of_one["n"], by_city.reshape(-1))


@pytest.mark.parametrize("offer", [{"epsilon": "1/2"}, {"epsilon": "1/2", "delta": "1e-6"}])
def test_the_parts_cost_together_what_is_offered(clinic, offer):
    question = dp.marginals("visits", **QUESTION)
    request = clinic.request(question, **offer)
    design = request.outputs[0].design
    assert len(request.parts) == 6
    if request.event.pure_epsilon is not None:
        assert request.event.pure_epsilon == design.event.pure_epsilon <= 0.5
    assert request.event.concentrated_rho <= design.event.concentrated_rho
    clinic.ask(question, **offer)
    assert clinic.spent.requests == 1


def test_stated_errors_are_those_of_repeated_draws(clinic, complete):
    """300 draws: variances of single cells and of a sum of several, within chance."""
    request = clinic.request(dp.marginals("visits", **QUESTION), epsilon=1)
    (output,) = request.outputs
    counts = [np.zeros(part.measure.width, np.int64) for part in request.parts]
    values = {"cell": [], "sum": []}
    for _ in range(300):
        draws = [
            Draw(part=part, steps=part.mechanism.release(exact))
            for part, exact in zip(request.parts, counts, strict=True)
        ]
        tables = output.release(request, draws, {"private": True}, stored=False)
        one, several = tables.count(city="Bern", age=(20, 40)), tables.count(age=(20, 80), cost=(0, 100))
        values["cell"].append(one.value / one.standard_error)
        values["sum"].append(several.value / several.standard_error)
    for scaled in values.values():
        assert 0.6 < np.mean(np.square(scaled)) < 1.6


def test_sets_of_columns_by_name(clinic):
    question = dp.marginals("visits", ["city", "sex", "age"], sets=[["sex", "city"], ["age"]])
    tables = clinic.ask(question, epsilon=HUGE)
    assert len(tables.design.workload.sets) == 2
    with pytest.raises(ParameterError, match=r"\(city, sex\)"):
        tables.count(city="Bern", age=(0, None))
    single = clinic.ask(dp.marginals("visits", "city"), epsilon=HUGE)
    assert len(single.to_pandas()) == 3


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"columns": []}, UnsupportedQuery),
        ({"columns": ["city", "city"]}, UnsupportedQuery),
        ({"columns": ["city", "person"]}, UndeclaredColumn),
        ({"columns": ["city", "ward"]}, UndeclaredColumn),
        ({"columns": ["city"], "width": {"age": 1}}, ParameterError),
        ({"columns": ["city"], "width": {"city": 1}}, ParameterError),
        ({"columns": ["city", "sex"], "sets": [["city", "age"]]}, ParameterError),
        ({"columns": ["city", "sex"], "sets": []}, ParameterError),
        ({"columns": ["city", "sex"], "ways": 3}, ParameterError),
        ({"columns": ["city", "sex"], "ways": 1, "sets": [["city"]]}, ParameterError),
        ({"columns": ["age", "cost", "city"], "ways": 3, "width": {"age": 1, "cost": "0.5"}}, None),
    ],
)
def test_questions_without_an_answer(clinic, arguments, error):
    if error is None:
        assert clinic.preview(dp.marginals("visits", **arguments), epsilon=1)["n"].margin > 0
        return
    with pytest.raises(error):
        clinic.ask(dp.marginals("visits", **arguments), epsilon=1)
    assert clinic.spent.requests == 0


def test_conditions_that_name_nothing(clinic):
    tables = clinic.ask(dp.marginals("visits", ["city", "age"], width={"age": 20}), epsilon=1)
    for conditions in ({"town": "Bern"}, {"city": "Rome"}, {"age": 20}, {"age": (30, 40)}, {"city": (0, 1)}):
        with pytest.raises(ParameterError):
            tables.count(**conditions)


def test_words_and_figures(clinic):
    pytest.importorskip("matplotlib").use("Agg")
    tables = clinic.ask(dp.marginals("visits", ["city", "sex"], ways=1), epsilon=1)
    assert "2 tables of counts: (city), (sex)" in str(tables)
    assert "at most 2 rows per person counted" in str(tables)
    assert clinic.ask(dp.marginals("visits", ["city", "age"], width=20), epsilon=1).axis("age").cells == 6
    assert tables.plot("city").get_xlabel() == "city"
    pairs = clinic.ask(dp.marginals("visits", ["city", "sex"]), epsilon=1)
    assert pairs.plot().get_ylabel() == "sex"
    assert "residual basis" in clinic.explain(dp.marginals("visits", ["city", "sex"]))
