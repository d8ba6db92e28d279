import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import replay
from synthesis.related.test_related_tables import counted, synthesizer


@pytest.fixture(scope="module")
def data():
    made = synthesizer(rho=100)
    with replay(3):
        found = made.draw(*counted(made))
    return made.finished(*found, private=False)


def test_keys_agree_and_numbers_are_those_of_events(data):
    found = data.codes(500, seed=4)
    assert found.numbers.max() <= 3
    assert found.numbers.min() == 0  # there are persons without events
    assert len(found.events) == found.numbers.sum() == len(found.owners)
    assert (np.bincount(found.owners, minlength=500) == found.numbers).all()
    tables = data.to_pandas(500, seed=4)
    assert list(tables["p"]) == ["k", "age", "sex"]
    assert list(tables["e"]) == ["k", "ward", "cost"]
    assert tables["p"]["k"].is_unique
    assert set(tables["e"]["k"]) <= set(tables["p"]["k"])
    sizes = tables["e"]["k"].value_counts().reindex(tables["p"]["k"], fill_value=0)
    assert (sizes.to_numpy() == found.numbers).all()


def test_the_same_seed_gives_the_same_rows_and_another_does_not(data):
    one, same, other = (data.to_arrow(200, seed=seed) for seed in (1, 1, 2))
    assert all(one[name].equals(same[name]) for name in one)
    assert not one["e"].equals(other["e"])


def test_totals_and_words(data):
    assert data.total == pytest.approx(300, abs=5)
    assert data.total_events == pytest.approx(450, abs=60)
    assert not data.private
    assert "about" in repr(data)
    assert data.to_pandas(0)["e"].empty
    with pytest.raises(ParameterError):
        data.codes(-1)
