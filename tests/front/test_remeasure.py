"""More budget for the same question: the average of its measurements, with its own interval."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pandas
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.curator import door
from discreet.curator.release.label import schema
from discreet.errors import BudgetExceeded, ParameterError, UnsupportedQuery
from significance import FALSE_ALARM

ROWS = 4000
QUESTION = "SELECT city, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY city"


@pytest.fixture
def clinic(tmp_path):
    frame = pandas.DataFrame(
        {"patient": range(ROWS), "city": ["a", "b"] * (ROWS // 2), "cost": np.arange(ROWS) % 100}
    )
    columns = {"city": dp.Keys(["a", "b"]), "cost": dp.Bounds(0, 100)}
    visits = dp.Table(frame, person="patient", limits=dp.Limits(rows=1), columns=columns)
    curator = dp.Curator({"visits": visits}, budget=dp.Budget(epsilon=100), ledger=tmp_path / "ledger")
    yield curator
    curator.close()


def test_two_measurements_are_paid_for_and_narrower_than_either(clinic):
    first = clinic.ask(QUESTION, epsilon=0.1)
    both = clinic.remeasure(first, epsilon=0.1)
    assert clinic.spent.epsilon == pytest.approx(0.2)
    assert both.event == first.event + first.event
    width = [one.outputs[0].upper[0] - one.outputs[0].lower[0] for one in (first, both)]
    assert width[1] < 0.9 * width[0]
    thrice = clinic.remeasure(both, epsilon=0.4)
    assert thrice.outputs[0].upper[0] - thrice.outputs[0].lower[0] < 0.5 * width[1]
    assert len(thrice.before) == 2
    assert [one["charge"]["entry"] for one in thrice.label["averaged_with"]] == [
        first.label["charge"]["entry"],
        both.label["charge"]["entry"],
    ]
    assert set(thrice.label) <= set(schema()["properties"])


def test_the_same_twice_is_free_the_second_time(clinic):
    first = clinic.ask(QUESTION, epsilon=0.1)
    both = clinic.remeasure(first, epsilon=0.1)
    again = clinic.remeasure(first, epsilon=0.1)
    assert again.stored
    assert again["n"].tolist() == both["n"].tolist() != first["n"].tolist()
    assert clinic.spent.requests == 2


@pytest.mark.slow
@pytest.mark.statistical
def test_the_interval_of_the_average_covers(clinic):
    """The count of a city is ROWS / 2 and its mean 49 or 50, in every measurement."""
    missed = np.zeros(2, int)
    runs = 40
    for run in range(runs):
        question = QUESTION.replace("FROM visits", f"FROM visits WHERE cost < {1000 + run}")
        both = clinic.remeasure(clinic.ask(question, epsilon=0.5), epsilon=0.3)
        for place, truth in enumerate(([ROWS / 2] * 2, [49, 50])):
            column = both.outputs[place]
            missed[place] += np.sum((column.lower > truth) | (column.upper < truth))
    most = binom.isf(FALSE_ALARM, 2 * runs, 0.05)
    assert missed.max() <= most


def test_what_cannot_be_averaged_is_refused_before_it_is_charged(clinic):
    median = clinic.ask("SELECT MEDIAN(cost) AS m FROM visits", epsilon=1)
    with pytest.raises(UnsupportedQuery, match="larger offer"):
        clinic.remeasure(median, epsilon=1)
    first = clinic.ask(QUESTION, epsilon=1)
    with pytest.raises(BudgetExceeded):
        clinic.remeasure(first, epsilon=99)
    with pytest.raises(ParameterError, match="by name"):
        clinic.remeasure(first, 1)
    assert clinic.spent.requests == 2


def test_an_answer_of_another_ledger_is_none_of_this_one(clinic, tmp_path):
    other = dp.Curator(clinic.tables, budget=dp.Budget(epsilon=1), ledger=tmp_path / "other")
    foreign = other.ask(QUESTION, epsilon=0.7)
    other.close()
    with pytest.raises(ParameterError, match="is not an answer of this ledger"):
        clinic.remeasure(foreign, epsilon=0.1)
    assert clinic.spent.requests == 0


def test_a_measurement_is_not_averaged_with_itself(clinic):
    first = clinic.ask(QUESTION, epsilon=0.1).request
    with pytest.raises(ParameterError, match="is not an answer of this ledger"):
        clinic.remeasure_request([first], first)


def test_no_data_is_read_for_earlier_measurements(clinic):
    first = clinic.ask(QUESTION, epsilon=0.1)
    clinic.remeasure(first, epsilon=0.2)
    with mock.patch.object(door, "compute", side_effect=AssertionError):
        clinic.remeasure(first, epsilon=0.2)
