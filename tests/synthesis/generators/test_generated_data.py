import json

import numpy as np
import pytest

import discreet as dp
from discreet.noise import replay
from discreet.privacy.events import Event
from discreet.synthesis import GeneratedData
from synthesis.charged_steps import COLUMNS, made_up
from synthesis.generators.generator_runs import pate_gan


@pytest.fixture(scope="module")
def made():
    return pate_gan().release(made_up(200))


def test_the_label_says_what_was_paid_for(made):
    label = json.loads(json.dumps(made.label))
    assert label["guarantee"] == {"epsilon": "2", "delta": "1/1000000", "neighbors": "add-remove person"}
    assert (label["rounds"], label["planned_rounds"], label["private"]) == (3, 3, True)
    assert Event.from_object(label["event"]) == made.event
    assert "3 of 3 rounds" in repr(made)


def test_rows_are_values_of_the_declared_columns(made):
    frame = made.to_pandas(50)
    assert list(frame.columns) == list(COLUMNS)
    assert frame.equals(made.to_pandas(50))
    assert set(frame["city"].dropna()) <= {"a", "b", "c"}
    assert isinstance(made, GeneratedData)
    assert 150 < made.total < 250  # as the measured columns say
    assert made.table(["sex"]).sum() == pytest.approx(made.model.total)


def test_it_is_compared_like_any_synthetic_table(made):
    found = dp.synthesis.fidelity(made_up(200), made, ways=2)
    assert not found.private
    assert 0 < found.mean(1) < found.mean(2) < 1


def test_replayed_noise_is_not_private():
    with replay(1):
        found = pate_gan().release({name: held[:9] for name, held in made_up(9).items()})
    assert not found.private
    assert not found.label["private"]
    assert np.isfinite(found.model.layers[-1].bias).all()
