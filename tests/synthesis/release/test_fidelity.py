import matplotlib.pyplot as plt
import numpy as np
import pytest

from discreet.data import Keys
from discreet.noise import replay
from discreet.synthesis import Independent, SpanningTree, fidelity
from synthesis.charged_steps import COLUMNS, made_up


@pytest.fixture(scope="module")
def compared():
    data = made_up(2000)
    with replay(1):
        good = SpanningTree(columns=COLUMNS, rho=1000).release(data)
        poor = Independent(columns=COLUMNS, rho=1000).release(data)
    return fidelity(data, good), fidelity(data, poor)


def test_a_model_of_pairs_is_closer_than_independent_columns(compared):
    good, poor = compared
    assert good.mean(2) < poor.mean(2) / 2
    assert good.mean(1) < 0.02
    assert len(good.distances[3]) == 4
    assert set(good.worst(2)[0]) <= set(COLUMNS)
    assert good.synthetic_correlations[0, 3] > 0.9 > abs(poor.synthetic_correlations[0, 3])


def test_it_says_that_it_is_not_private(compared):
    assert not compared[0].private
    assert str(compared[0]).startswith("NOT PRIVATE")


def test_distances_are_total_variations():
    with replay(1):
        found = Independent(columns={"x": Keys([0, 1, 2])}, rho=1000).release({"x": np.zeros(100, int)})
    assert fidelity({"x": np.ones(50, int)}, found).mean(1) == pytest.approx(1.0, abs=0.02)
    assert fidelity({"x": np.zeros(50, int)}, found).mean(1) == pytest.approx(0.0, abs=0.02)


def test_the_figure_has_both_panels_and_says_what_it_is(compared):
    drawn = compared[0].plot()
    assert len(drawn) == 2
    assert [len(panel.get_lines()) >= 1 for panel in drawn] == [True, True]
    plt.close("all")
