"""A generator as a learner: what it draws, charges and stores, and that nothing but answers decides it."""

import json

import numpy as np
import pytest

from discreet.errors import LedgerTampered, ParameterError
from discreet.noise import replay
from discreet.privacy.events import compose
from discreet.synthesis.generators.generator_learner import GeneratorLearner
from discreet.synthesis.generators.pate_gan import PateGAN
from synthesis.charged_steps import made_up
from synthesis.generators.generator_runs import Book, g_pate, pate_gan, scripted, shown, watched


def values(rows=120, seed=0, teachers=6):
    """Columns as the door hands them to a learner, and shards of rows."""
    held = made_up(rows, seed)
    shards = np.random.default_rng(seed).integers(0, teachers, rows)
    return [
        *(np.asarray(one, object) if one.dtype.kind == "U" else one * 1.0 for one in held.values()),
        shards,
    ]


@pytest.mark.parametrize("make", [pate_gan, g_pate])
def test_all_that_is_drawn_is_the_event_that_was_charged_first(make):
    learner = GeneratorLearner(synthesizer=make())
    book = Book()
    with watched(book):
        learner.draw(values())
    assert compose(book.drawn) == learner.event
    assert book.charged == []  # the door has charged all of it before


class Unplanned(GeneratorLearner):
    """Planted: a second run after the first, on the same charge."""

    def draw(self, values):
        GeneratorLearner.draw(self, values)
        return GeneratorLearner.draw(self, values)


def test_votes_that_were_not_charged_are_noticed():
    learner = Unplanned(synthesizer=pate_gan())
    book = Book()
    with watched(book):
        learner.draw(values())
    assert compose(book.drawn) != learner.event


def test_only_the_two_networks_of_the_library_are_taken():
    """Planted: a synthesizer that keeps the rows it gets, of no kind, and of a kind that was changed."""

    class Changed(PateGAN):
        __slots__ = ()

    class Evil:
        domain, rows, teachers, event = pate_gan().domain, 1, 6, pate_gan().event

        def release(self, rows, shards=None):
            raise AssertionError("code of a user met rows")

    changed = object.__new__(Changed)
    for wrong in (Evil(), changed, None):
        with pytest.raises(ParameterError, match="synthesizer"):
            GeneratorLearner(synthesizer=wrong)


@pytest.mark.parametrize("make", [pate_gan, g_pate])
def test_what_is_stored_is_the_network_to_the_last_bit(make):
    learner = GeneratorLearner(synthesizer=make())
    with replay(1):
        whole = learner.synthesizer.release(
            dict(zip(learner.columns, values()[:-1], strict=True)), shards=values()[-1]
        )
    with replay(1):
        drawn = json.loads(json.dumps(learner.draw(values()), allow_nan=False))
    again = learner.finished(drawn, private=False)
    assert shown(again) == shown(whole)
    assert again.rounds == again.planned == 3


def test_it_is_decided_by_measured_counts_and_answers_alone():
    learner = GeneratorLearner(synthesizer=pate_gan())
    with scripted():
        one, other = learner.draw(values(150, 1)), learner.draw(values(70, 2))
    assert one == other


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_are_rows_too(rows):
    learner = GeneratorLearner(synthesizer=pate_gan())
    found = learner.finished(learner.draw(values(rows)), private=True)
    assert len(found.codes(4)) == 4


def test_other_content_is_refused():
    learner = GeneratorLearner(synthesizer=pate_gan())
    with replay(1):
        drawn = dict(learner.draw(values()))
    weights, bias = drawn["layers"][0]
    for wrong in (
        {},
        {**drawn, "counts": drawn["counts"][1:]},
        {**drawn, "counts": [drawn["counts"][0][1:], *drawn["counts"][1:]]},
        {**drawn, "layers": []},
        {**drawn, "layers": drawn["layers"][1:] + drawn["layers"][:1]},
        {**drawn, "layers": [[{**weights, "shape": [1]}, bias], *drawn["layers"][1:]]},
        {**drawn, "layers": [[{**weights, "numbers": "*"}, bias], *drawn["layers"][1:]]},
        {**drawn, "total": "many"},
    ):
        with pytest.raises(LedgerTampered):
            learner.finished(wrong, private=True)


def test_parameters_tell_learners_apart():
    made = [GeneratorLearner(synthesizer=one) for one in (pate_gan(), g_pate(), pate_gan(seed=3))]
    assert len({json.dumps(one.parameters, sort_keys=True) for one in made}) == 3
    assert made[0].shards == 6
    names = [one.name for one in made[0].expectations(1000)]
    assert names == ["votes for a generated row", "columns"]
    assert "paid for now" in made[0].words
