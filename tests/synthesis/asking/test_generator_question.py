"""Generators through a curator: charged once and in advance, stored, and shown beside marginals."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import BudgetExceeded, EngineFailed, ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.noise import replay
from discreet.synthesis.asking.generator_release import COLUMNS_ALONE
from discreet.synthesis.generators import g_pate, pate_gan
from discreet.synthesis.generators.generator_learner import GeneratorLearner

COLUMNS = ["age", "city"]
SMALL = {"epsilon": 2, "delta": 1e-6, "teachers": 6, "rounds": 2, "queries": 4}


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    for module in (g_pate, pate_gan):
        monkeypatch.setattr(module, "_POOL", 64)
        monkeypatch.setattr(module, "_TEACHER_STEPS", 2)
    monkeypatch.setattr(pate_gan, "_STUDENT_STEPS", 5)


def frame(rows=200):
    age = np.random.default_rng(0).integers(0, 20, rows).astype(float)
    city = np.where(age > 10, "Taipei", "Lagos").astype(object)
    city[:5] = None
    return pd.DataFrame({"p": np.arange(rows) // 2, "age": age, "city": city})


@pytest.fixture
def clinic(tmp_path):
    visits = dp.Table(
        frame(),
        person="p",
        limits=dp.Limits(rows=2),
        columns={"age": dp.Bounds(0, 20, step=1), "city": dp.Keys(["Taipei", "Lagos"])},
    )
    return dp.Curator(
        {"visits": visits}, budget=dp.Budget(epsilon=100, delta=1e-4), ledger=tmp_path / "c.ledger"
    )


@pytest.mark.slow
def test_it_is_charged_in_advance_stored_and_read_again(clinic, monkeypatch):
    draw = GeneratorLearner.draw
    charged = []

    def watching(self, values):
        charged.append(clinic.spent.requests)
        return draw(self, values)

    monkeypatch.setattr(GeneratorLearner, "draw", watching)
    preview = clinic.preview_generator("visits", COLUMNS, **SMALL)
    assert clinic.spent.requests == 0
    found = clinic.train_generator("visits", COLUMNS, **SMALL, rows=30)
    assert found.event == preview.event
    assert charged == [1]  # it was charged before a teacher read a row
    again = clinic.train_generator("visits", COLUMNS, **SMALL, rows=30)
    assert again.stored
    assert not found.stored
    assert charged == [1]
    assert clinic.spent.requests == 1
    assert again.to_pandas().equals(found.to_pandas())
    assert found.to_pandas().shape == (30, 2)
    assert found.to_arrow(3).num_rows == 3
    assert found.label["private"]
    assert json.dumps(found.label)
    assert "paid for in advance" in repr(found)


@pytest.mark.slow
def test_the_report_shows_it_beside_marginals(clinic):
    with replay(1):
        made = clinic.train_generator("visits", COLUMNS, **SMALL)
        tree = clinic.synthesize("visits", COLUMNS, epsilon=2, delta=1e-6, method="spanning tree")
        report = clinic.measure_fidelity([made, tree], epsilon=50, delta=1e-6)
        alone = clinic.measure_fidelity(made, epsilon=20, delta=1e-6)
    shown = report.to_pandas()
    assert list(dict.fromkeys(shown["method"])) == ["PateGAN", COLUMNS_ALONE, "SpanningTree"]
    assert set(shown["table"]) == {"mean of all", "age, city"}
    assert list(dict.fromkeys(alone.to_pandas()["method"])) == ["PateGAN", COLUMNS_ALONE]
    assert report.event.concentrated_rho is not None
    assert clinic.preview_fidelity([made, tree], epsilon=1, delta=1e-6).event is not None
    codes = tree.data.domain.codes(frame())
    counts = np.zeros(tree.data.domain.shape)
    np.add.at(counts, tuple(codes.T), 1)
    mean = shown[shown["table"] == "mean of all"].set_index("method")
    for method, data in (("PateGAN", made.data), (COLUMNS_ALONE, made.columns_alone)):
        exact = np.abs(counts - data.model.table((0, 1))).sum() / (2 * data.total)
        one = mean.loc[method]
        assert one["total_variation_lower"] <= exact <= one["total_variation_upper"]
    young = clinic.table("visits").filter(dp.col("age") < 9)
    given = {"epsilon": 1, "delta": 1e-6, "method": "independent"}
    for other, words in (
        (clinic.synthesize(young, COLUMNS, **given), "same rows"),
        (clinic.synthesize("visits", ["age"], **given), "beside"),
    ):
        with pytest.raises(ParameterError, match=words):
            clinic.measure_fidelity([made, other], epsilon=1, delta=1e-6)


@pytest.mark.slow
def test_without_measured_columns_there_is_nothing_beside(clinic):
    made = clinic.train_generator("visits", COLUMNS, **SMALL, columns_share=0)
    assert made.columns_alone is None
    assert "method" not in clinic.measure_fidelity(made, epsilon=1, delta=1e-6).to_pandas()


@pytest.mark.slow
def test_a_draw_that_failed_is_the_one_answer(clinic, monkeypatch):
    drawn = []

    def fails(self, values):
        drawn.append(len(values))
        raise MemoryError("a value from the data")

    monkeypatch.setattr(GeneratorLearner, "draw", fails)
    for _ in range(2):
        with pytest.raises(EngineFailed) as found:
            clinic.train_generator("visits", COLUMNS, **SMALL)
        assert "from the data" not in str(found.value)
    assert len(drawn) == clinic.spent.requests == 1


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"method": "a network of mine"}, ParameterError),
        ({"columns": ["age", "nobody"]}, UndeclaredColumn),
        ({"columns": ["age", "p"]}, UndeclaredColumn),
        ({"width": {"height": 1}}, ParameterError),
        ({"teachers": 1}, (ParameterError, UnsupportedQuery)),
        ({"method": "G-PATE"}, ParameterError),  # which takes no queries: a batch and directions make them
        ({"epsilon": 10**4}, (BudgetExceeded, ParameterError)),
        ({"network": object()}, (TypeError, ParameterError)),
    ],
)
def test_refusals_come_before_the_charge(clinic, wrong, error):
    given = {"columns": COLUMNS} | SMALL | wrong
    with pytest.raises(error):
        clinic.train_generator("visits", given.pop("columns"), **given)
    assert clinic.spent.requests == 0


@pytest.mark.slow
def test_torch_is_not_loaded_by_the_rest():
    code = (
        "import sys, discreet, discreet.front.curator, discreet.synthesis.asking.fidelity_question,"
        " discreet.synthesis.asking.generator_question, discreet.synthesis.related.related_tables;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
