"""The private fidelity report against exact distances, its charge, and its intervals."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import BudgetExceeded, ParameterError, UnsupportedQuery
from discreet.noise import replay
from discreet.synthesis import SpanningTree
from discreet.synthesis.asking.table_distances import MEAN, TableDistances, compared_sets
from discreet.synthesis.measuring.exact_tables import CountedRows
from discreet.synthesis.measuring.steps import SCORE_STEPS, distance
from synthesis.charged_steps import COLUMNS, is_charged, made_up, watched


@pytest.fixture(scope="module")
def data():
    with replay(1):
        return SpanningTree(columns=COLUMNS, rho=1).release(made_up())


def exact_tables(data, rows):
    counted = CountedRows(shape=data.domain.shape, codes=data.domain.codes(rows))
    return [counted.table(pair) for pair in combinations(range(4), 2)]


class _Charged:
    def __init__(self, mechanism, rho):
        self.event = mechanism.event
        self.stated = type("Stated", (), {"rho": rho})


def test_every_distance_is_what_is_charged(data):
    mechanism = TableDistances.costing(data, Fraction(1, 10), 2, 2)
    with watched() as drawn:
        mechanism.draw(exact_tables(data, made_up()))
    assert is_charged(_Charged(mechanism, Fraction(1, 10)), drawn)

    class Planted(TableDistances):
        def draw(self, tables):
            found = super().draw(tables)
            found[0] = distance(tables[0], self.estimate(self.sets[0]))  # without noise, after all
            self.noise.measured((0,), np.array([found[0]]))
            return found

    planted = Planted.costing(data, Fraction(1, 10), 2, 2)
    with watched() as drawn:
        planted.draw(exact_tables(data, made_up()))
    assert not is_charged(_Charged(planted, Fraction(1, 10)), drawn)


def test_the_report_is_the_exact_one_but_for_noise(data):
    tables = exact_tables(data, made_up())
    mechanism = TableDistances.costing(data, Fraction(10**6), 1, 2)
    with replay(2):
        keys, column = mechanism.finish(mechanism.draw(tables), Fraction(95, 100))
    wanted = [
        np.abs(table - data.model.table(pair)).sum() / (2 * data.total)
        for pair, table in zip(combinations(range(4), 2), tables, strict=True)
    ]
    np.testing.assert_allclose(column.values[1:], wanted, atol=0.01)
    assert column.values[0] == pytest.approx(np.mean(wanted), abs=0.01)
    assert keys["table"][:2] == [MEAN, "age, city"]


def test_a_person_moves_a_distance_by_no_more_than_the_noise_covers(data):
    rows = 3
    mechanism = TableDistances.costing(data, Fraction(1), rows, 2)
    held = made_up()
    fewer = {name: values[rows:] for name, values in held.items()}
    for chosen, one, other in zip(
        mechanism.sets, exact_tables(data, held), exact_tables(data, fewer), strict=True
    ):
        estimate = mechanism.estimate(chosen)
        assert abs(distance(one, estimate) - distance(other, estimate)) <= SCORE_STEPS * rows
    assert mechanism.noise.event.squared_sensitivity == (SCORE_STEPS * rows) ** 2
    assert mechanism.covers(_Moved(3))
    assert not mechanism.covers(_Moved(4))


class _Moved:
    def __init__(self, rows):
        self.l1 = rows


def test_intervals_cover_the_exact_distances(data):
    tables = exact_tables(data, made_up())
    mechanism = TableDistances.costing(data, Fraction(1, 100), 1, 2)
    wanted = [
        distance(table, mechanism.estimate(chosen)) / (2 * SCORE_STEPS * data.total)
        for chosen, table in zip(mechanism.sets, tables, strict=True)
    ]
    outside = 0
    for seed in range(100):
        with replay(seed):
            _, column = mechanism.finish(mechanism.draw(tables), Fraction(90, 100))
        outside += int(((column.lower[1:] > wanted) | (column.upper[1:] < wanted)).sum())
        outside += int(not column.lower[0] <= np.mean(wanted) <= column.upper[0])
    # 700 intervals, each of which misses with a probability of at most 0.1, in fact of 0.02.
    assert 0 < outside < 60


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(UnsupportedQuery, match="ways=1"):
        compared_sets((2000, 2000), 2)
    assert compared_sets((2000, 2000), 1) == ((0,), (1,))
    assert compared_sets((3,), 2) == ((0,),)


def test_a_stored_report_that_cannot_be_one_is_refused(data):
    mechanism = TableDistances.costing(data, Fraction(1), 1, 1)
    for wrong in (None, [1], "x"):
        with pytest.raises(ValueError, match="one distance"):
            mechanism.finish(wrong, Fraction(95, 100))


def test_a_curator_charges_for_the_report_and_stores_it(tmp_path):
    held = pd.DataFrame(made_up(300))
    table = dp.Table(held, person=dp.EACH_ROW, columns={**COLUMNS, "age": dp.Bounds(0, 9, step=1)})
    clinic = dp.Curator({"t": table}, budget=dp.Budget(rho=10), ledger=tmp_path / "c.ledger")
    made = clinic.synthesize("t", ["age", "city"], rho=1, method="spanning tree")
    preview = clinic.preview_fidelity(made, rho=0.5)
    assert clinic.spent.requests == 1
    report = clinic.measure_fidelity(made, rho=0.5)
    assert report.event == preview.event
    assert float(report.event.concentrated_rho) <= 0.5
    assert report.label["private"]
    assert list(report.to_pandas()["table"]) == [MEAN, "age, city"]
    assert clinic.measure_fidelity(made, rho=0.5).stored
    assert clinic.spent.requests == 2
    assert len(clinic.measure_fidelity(made, rho=0.1, ways=1).to_pandas()) == 3
    with pytest.raises(BudgetExceeded):
        clinic.measure_fidelity(made, rho=100)
    with pytest.raises(ParameterError):
        clinic.measure_fidelity(made.data, rho=1)
    with pytest.raises(ParameterError):
        clinic.measure_fidelity(made, rho=1, ways=3)
    assert clinic.spent.requests == 3


def test_two_models_of_the_same_counts_are_two_questions(data):
    """The counts are the same; a fact, the trust in a count, and a number of rows make other models."""
    made = SpanningTree(columns=COLUMNS, rho=1)
    name, other = made.domain.names[:2]
    first, second = (made.domain.columns[place].labels[0] for place in (0, 1))
    known = SpanningTree(columns=COLUMNS, rho=1, facts=[dp.Impossible({name: first, other: second})])
    trusted = [
        replace(one, variance=one.variance * (1 + 9 * place)) for place, one in enumerate(data.measured)
    ]
    models = [
        data,
        made.finished(trusted, private=False),
        known.finished(data.measured, private=False),
        replace(data, model=SimpleNamespace(table=lambda chosen: data.model.table(chosen) + 1, total=9.0)),
    ]
    asked = [TableDistances.costing(one, Fraction(1), 1, 2) for one in models]
    assert len({str(one.parameters) for one in asked}) == len(models)
    again = made.finished(data.measured, private=False)
    assert TableDistances.costing(again, Fraction(1), 1, 2).parameters == asked[0].parameters
    for one in models[1:]:
        beside = TableDistances.costing(data, Fraction(1), 1, 2, (one,))
        assert beside.parameters["beside"] != beside.parameters["compared"]
