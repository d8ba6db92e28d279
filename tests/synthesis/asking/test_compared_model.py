"""The hash of a compared model: whatever changes a distance changes it, and nothing that does not."""

import numpy as np
import pytest

from discreet.synthesis.asking.compared_model import model_digest
from discreet.synthesis.measuring.steps import SCORE_STEPS, distance
from discreet.synthesis.models.measured import MeasuredTable

TABLE = np.array([[1.0, 2.5], [0.25, 4.0]])
COUNTS = MeasuredTable(columns=(0,), counts=np.array([3, 5]), variance=2.0)


def digest(words=("SpanningTree", 8), measured=(COUNTS,), tables=(TABLE,)):
    return model_digest(list(words), measured, tables)


def test_it_differs_where_a_report_could():
    step = np.zeros((2, 2))
    step[0, 0] = 1 / SCORE_STEPS
    others = [
        digest(words=("Independent", 8)),
        digest(words=("SpanningTree", 9)),
        digest(measured=()),
        digest(measured=(MeasuredTable(columns=(1,), counts=COUNTS.counts, variance=2.0),)),
        digest(measured=(MeasuredTable(columns=(0,), counts=COUNTS.counts[::-1], variance=2.0),)),
        digest(tables=()),
        digest(tables=(TABLE, TABLE)),
        digest(tables=(TABLE.T,)),
        digest(tables=(TABLE.reshape(-1),)),
        digest(tables=(TABLE + step,)),
    ]
    assert len({digest(), *others}) == len(others) + 1


@pytest.mark.parametrize("same", [TABLE.copy(), TABLE + 1e-9, np.asfortranarray(TABLE)])
def test_tables_that_meet_the_data_alike_are_one_model(same):
    exact = np.array([[7, 0], [1, 3]])
    assert distance(exact, same) == distance(exact, TABLE)
    assert digest(tables=(same,)) == digest()


def test_numbers_that_are_none_have_a_hash():
    odd = np.array([np.nan, np.inf, -np.inf, -1.0])
    assert digest(tables=(odd,)) == digest(tables=(np.zeros(4),))
