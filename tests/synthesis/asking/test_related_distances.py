"""The private report on two related tables: its charge, its sensitivity, and that it is the exact one."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.noise import replay
from discreet.privacy.events import compose
from discreet.synthesis.asking.related_distances import RelatedDistances
from discreet.synthesis.measuring.steps import SCORE_STEPS, distance
from synthesis.charged_steps import watched
from synthesis.related.test_related_tables import counted, synthesizer
from synthesis.related.tiny_clinic import clinic, tables


@pytest.fixture(scope="module")
def data():
    made = synthesizer(rho=10)
    with replay(3):
        found = made.draw(*counted(made))
    return made.finished(*found, private=False)


def exact(mechanism, people, seed=0):
    """Return the tables that it reads."""
    persons, events = counted(synthesizer(), people, seed)
    return [
        *(persons.table(one) for one in mechanism.person_sets),
        *(events.table(one) for one in mechanism.event_sets),
    ]


@pytest.mark.parametrize("ways", [1, 2])
def test_every_distance_is_what_is_charged(data, ways):
    mechanism = RelatedDistances.costing(data, Fraction(1, 10), 3, ways)
    with watched() as drawn:
        mechanism.draw(exact(mechanism, 300))
    assert compose(drawn) == mechanism.event
    assert mechanism.event.concentrated_rho <= Fraction(1, 10)
    # Within persons: 3 columns, 3 pairs; of events: 2 columns, or 1 pair and 6 across.
    assert (len(mechanism.person_sets), len(mechanism.event_sets)) == ((3, 2), (3, 7))[ways - 1]


def test_the_noise_covers_a_person_with_all_events(data):
    mechanism = RelatedDistances.costing(data, Fraction(1), 3, 2)
    assert mechanism.person_noise.event.squared_sensitivity == SCORE_STEPS**2
    assert mechanism.event_noise.event.squared_sensitivity == (3 * SCORE_STEPS) ** 2
    persons, events = counted(synthesizer(), 60)
    owner, own = persons.codes[0], events.codes
    fewer = own[3:] if owner[-1] == 3 else own[owner[-1] :]
    for chosen in mechanism.event_sets:
        estimate = mechanism.estimate(len(mechanism.person_sets), chosen)
        before, after = (
            distance(type(events)(shape=events.shape, codes=held).table(chosen), estimate)
            for held in (own, fewer)
        )
        assert abs(before - after) <= 3 * SCORE_STEPS


def test_the_report_is_the_exact_one_but_for_noise(data):
    mechanism = RelatedDistances.costing(data, Fraction(10**6), 3, 2)
    held = exact(mechanism, 300)
    with replay(2):
        keys, column = mechanism.finish(mechanism.draw(held), Fraction(95, 100))
    for place, (table, value) in enumerate(zip(held, column.values, strict=True)):
        chosen = (*mechanism.person_sets, *mechanism.event_sets)[place]
        total = data.total if place < 3 else data.total_events
        wanted = np.abs(table - mechanism.estimate(place, chosen)).sum() / (2 * total)
        assert value == pytest.approx(wanted, abs=0.01)
    assert keys["rows"] == ["p"] * 3 + ["e"] * 7
    assert keys["table"][0] == "age, sex"
    with pytest.raises(ValueError, match="distance"):
        mechanism.finish([1], Fraction(95, 100))


@pytest.mark.slow
def test_a_curator_measures_it_and_is_paid(tmp_path):
    curator = dp.Curator(tables(*clinic(200), limit=3), budget=dp.Budget(rho=100), ledger=tmp_path / "c")
    made = curator.synthesize_related(
        "patients", ["age", "sex"], events="visits", event_columns=["ward", "cost"], rho=10
    )
    preview = curator.preview_fidelity(made, rho=5)
    report = curator.measure_fidelity(made, rho=5)
    assert report.event == preview.event
    assert curator.spent.requests == 2
    shown = report.to_pandas()
    assert set(shown["rows"]) == {"patients", "visits"}
    assert "age, visits_per_person" in set(shown["table"])
    with pytest.raises(ParameterError):
        curator.measure_fidelity([made, made], rho=1)


def test_two_models_of_the_same_counts_are_two_questions(data):
    """The counts are the same, and the trust in them is not."""
    made = synthesizer(rho=10)

    def trusted(measured):
        return [replace(one, variance=one.variance * (1 + 99 * place)) for place, one in enumerate(measured)]

    persons, events = data.persons.measured, data.measured
    models = [
        data,
        made.finished(trusted(persons), events, private=False),
        made.finished(persons, trusted(events), private=False),
    ]
    asked = [RelatedDistances.costing(one, Fraction(1), 3, 2).parameters for one in models]
    assert len({str(one) for one in asked}) == len(models)
    again = made.finished(persons, events, private=False)
    assert RelatedDistances.costing(again, Fraction(1), 3, 2).parameters == asked[0]
