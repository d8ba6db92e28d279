from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import Gaussian
from discreet.noise import replay
from discreet.synthesis import SpanningTree
from discreet.synthesis.release.synthetic_data import count_margin
from synthesis.charged_steps import COLUMNS, made_up


@pytest.fixture(scope="module")
def released():
    with replay(1):
        return SpanningTree(columns=COLUMNS, rho=10).release(made_up(1000))


def test_the_same_seed_gives_the_same_rows(released):
    assert released.to_pandas(50, seed=1).equals(released.to_pandas(50, seed=1))
    assert not released.to_pandas(50, seed=1).equals(released.to_pandas(50, seed=2))
    assert released.to_arrow(7).num_rows == 7
    assert released.to_pandas().shape == (released.total, 4)
    assert list(released.to_pandas(0).columns) == list(COLUMNS)


def test_rows_have_the_tables_of_the_model(released):
    codes = released.codes(50_000)
    table = np.zeros((released.domain.shape[0], released.domain.shape[3]))
    np.add.at(table, (codes[:, 0], codes[:, 3]), 1 / 50_000)
    model = released.table(["score", "age"]) / released.model.total
    assert np.abs(table - model).sum() / 2 < 0.02
    assert "SpanningTree" in repr(released)
    assert not released.private


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 2), 10])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_margins_cover_the_exact_law(rho, confidence):
    mechanism = Gaussian(sensitivity=1, rho=rho)
    margin = count_margin(float(mechanism.event.variance), confidence)
    assert margin >= mechanism.error.quantile(confidence)
