import numpy as np
import pandas as pd
import pytest

from discreet.noise import replay
from discreet.synthesis.related.related_fidelity import related_fidelity
from synthesis.related.test_related_tables import counted, synthesizer


@pytest.fixture(scope="module")
def data():
    made = synthesizer(rho=10_000)
    with replay(3):
        found = made.draw(*counted(made, 2000))
    return made.finished(*found, private=False)


def test_rows_compared_with_themselves_are_the_same(data):
    made = data.to_pandas(400, seed=1)
    found = related_fidelity(made["p"], made["e"], data, rows=400, seed=1)
    assert found.persons.mean(1) == found.persons.mean(2) == 0
    assert found.events.mean(2) == found.numbers == 0
    assert max(found.across.values()) == 0
    assert len(found.across) == 3 * 2
    assert not found.private
    assert "NOT PRIVATE" in str(found)


def test_what_differs_between_tables_is_seen_across(data):
    made = data.to_pandas(2000, seed=1)
    other = made["e"].assign(k=np.roll(made["e"]["k"], 500))
    apart = related_fidelity(made["p"], other, data, rows=2000, seed=1)
    assert apart.events.mean(2) == 0  # as tables they are the same
    assert apart.numbers == 0
    assert max(apart.across.values()) > 0.02
    few = made["e"][made["e"]["k"] > 600]
    assert related_fidelity(made["p"], few, data, rows=2000, seed=1).numbers > 0.1


def test_events_of_nobody_and_second_rows_of_a_person_are_left_out(data):
    made = data.to_pandas(400, seed=1)
    persons = pd.concat([made["p"], made["p"].head(50)])
    stray = made["e"].head(40).assign(k=999_999)
    found = related_fidelity(persons, pd.concat([made["e"], stray]), data, rows=400, seed=1)
    assert found.persons.mean(2) == found.events.mean(2) == found.numbers == 0
    empty = related_fidelity(made["p"].head(0), made["e"], data, rows=400, seed=1)
    assert empty.numbers == pytest.approx(0.5)
