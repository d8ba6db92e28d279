from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Bounds, Keys
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.noise import replay
from discreet.synthesis import Adaptive
from discreet.synthesis.measuring.exact_tables import CountedRows
from discreet.synthesis.measuring.steps import SCORE_STEPS
from discreet.synthesis.models.growing_model import GrowingModel
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.possible_rows import PossibleRows
from synthesis.charged_steps import COLUMNS, is_charged, made_up, watched


def test_columns_and_rounds_are_what_is_charged():
    mechanism = Adaptive(columns=COLUMNS, epsilon=1, delta=1e-9, rounds=3)
    with watched() as drawn:
        found = mechanism.release(made_up())
    assert is_charged(mechanism, drawn)
    assert len(found.measured) == 7
    assert all(one.columns in dict(mechanism.workload) for one in found.measured[4:])


class Unnoised(Adaptive):
    """Planted: the worst table is taken as it is."""

    def draw(self, tables):
        class Largest:
            def chosen(self, scores):
                return int(np.argmax(scores))

        object.__setattr__(self, "choice", Largest())
        return super().draw(tables)


class Reused(Adaptive):
    """Planted: a table is measured again when it is chosen, for the same charge."""

    def draw(self, tables):
        found = super().draw(tables)
        return (*found, self.table_noise.measured((0, 1), tables.table((0, 1))))


@pytest.mark.parametrize("planted", [Unnoised, Reused])
def test_planted_faults_are_noticed(planted):
    mechanism = planted(columns=COLUMNS, rho=1, rounds=2)
    event, stated = mechanism.event, mechanism.stated
    counted = CountedRows(shape=mechanism.domain.shape, codes=mechanism.domain.codes(made_up()))
    with watched() as drawn:
        mechanism.draw(counted)

    class Charged:
        pass

    charged = Charged()
    charged.event, charged.stated = event, stated
    assert not is_charged(charged, drawn)


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 9))
def test_a_person_moves_every_score_by_no_more_than_is_charged(seed, rows, weight):
    random = np.random.default_rng(seed)
    shape = (3, 2, 4)
    columns = {f"x{place}": Bounds(0, size - 1, nan=0, null=0) for place, size in enumerate(shape)}
    workload = {("x0", "x1"): weight, ("x1", "x2"): 1, ("x0", "x1", "x2"): 2}
    mechanism = Adaptive(columns=columns, rho=1, rows=rows, workload=workload, rounds=2)
    assert mechanism.domain.shape == shape
    codes = np.stack([random.integers(0, size, 20) for size in shape], axis=1)
    single = [
        MeasuredTable(columns=(place,), counts=random.integers(0, 20, size), variance=1.0)
        for place, size in enumerate(shape)
    ]
    model = GrowingModel.begun(PossibleRows(shape=shape), single, 20.0, 20)
    scores = [
        mechanism.scores(
            {one: CountedRows(shape=shape, codes=held).table(one) for one, _ in mechanism.workload},
            model,
            dict(mechanism.workload),
        )
        for held in (codes, codes[rows:])
    ]
    largest = max(weight, 2)
    assert np.abs(scores[0] - scores[1]).max() <= SCORE_STEPS * rows * largest
    assert (
        2 * SCORE_STEPS * rows * largest * mechanism.choice.mechanism.rate == mechanism.choice.event.epsilon
    )


@pytest.mark.slow
def test_without_noise_worth_mentioning_all_pairs_are_right():
    data = made_up(5000)
    with replay(2):
        mechanism = Adaptive(columns=COLUMNS, rho=1000, rounds=4)
        found = mechanism.release(data)
    rows = found.domain.codes(data)
    for pair in combinations(range(4), 2):
        wanted = CountedRows(shape=found.domain.shape, codes=rows).table(pair)
        assert np.abs(found.model.table(pair) - wanted).sum() / 5000 < 0.1


@pytest.mark.slow
def test_the_model_never_outgrows_its_size():
    columns = {f"x{place}": Keys(range(8)) for place in range(4)}
    data = {name: np.random.default_rng(0).integers(0, 8, 300) for name in columns}
    with replay(5):
        found = Adaptive(columns=columns, rho=100, rounds=5, tree_cells=200).release(data)
    assert found.model.model.tree.cells <= 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"workload": [("age", "nobody")]},
        {"workload": {("age", "sex"): 0.5}},
        {"workload": {("age", "sex"): 1001}},
        {"rounds": 0},
        {"tree_cells": 1},
        {"workload": [("age", "score")], "tree_cells": 100},
    ],
)
def test_what_no_model_could_hold_is_refused_before_anything_is_drawn(wrong):
    with pytest.raises(ParameterError):
        Adaptive(columns=COLUMNS, rho=1, **wrong)


def test_hundreds_of_columns_are_refused_with_what_fits():
    with pytest.raises(ParameterError, match="SpanningTree"):
        Adaptive(columns={f"x{place}": Bounds(0, 1) for place in range(200)}, rho=1)
    with pytest.raises(ParameterError, match="cells"):
        Adaptive(columns={"x": Keys(range(10_000)), "y": Keys(range(10_000))}, rho=1, workload=[("x", "y")])


def test_more_cells_than_can_be_held_are_refused_before_rows_are_read():
    mechanism = Adaptive(columns={f"x{place}": Keys(range(1000)) for place in range(8)}, rho=1)
    with pytest.raises(UnsupportedQuery, match="wider cells"):
        mechanism.release(None)  # what cannot be read is not noticed


@pytest.mark.parametrize(
    "columns",
    [
        {"x": Keys(["only"]), "y": Keys(["one"])},
        {"x": Keys(range(10_000)), "y": Keys([0, 1])},
        {"x": Bounds(0, 9), "y": Bounds(0, 1)},
    ],
    ids=["one value", "10,000 categories", "numbers"],
)
@pytest.mark.parametrize("values", [[], [None] * 50, ["other", float("nan"), 2**80, b"", [1]] * 10])
def test_any_rows_at_a_small_epsilon_give_rows(columns, values):
    mechanism = Adaptive(columns=columns, epsilon=0.01, delta=1e-9, rounds=1)
    held = np.empty(len(values), object)
    for place, value in enumerate(values):  # a slice would spread lists
        held[place] = value
    found = mechanism.release(dict.fromkeys(columns, held))
    assert found.codes(20).shape == (20, 2)


def test_a_workload_whose_tree_needs_terabytes_is_refused_with_what_fits():
    columns = {f"x{place}": Keys(range(50)) for place in range(8)}
    with pytest.raises(ParameterError, match=r"cells.*at most 32,768"):
        Adaptive(columns=columns, rho=1, workload=[tuple(columns)])


def test_one_column_has_no_rounds():
    assert Adaptive(columns={"x": Keys(["a"])}, rho=1).event.concentrated_rho == 1
