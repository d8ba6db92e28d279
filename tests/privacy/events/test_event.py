"""What every event obeys: value semantics, JSON, and the promise that stored events stay readable."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy import REPLACE_ROW, events
from discreet.privacy.events.event import Event, stored
from discreet.privacy.neighbors import Neighbors, Unit

GOLDEN = Path(__file__).parent.parent / "stored_events.json"
LAPLACE = events.DiscreteLaplace(sensitivity=1, scale="7/2", grid=0.25, size=3, neighbors=REPLACE_ROW)
CHOICE = events.ExponentialChoice(epsilon=0.1, neighbors=REPLACE_ROW)
ROW = events.Pure(epsilon=1, neighbors=REPLACE_ROW)

# One of each event. The golden file holds them as version 0.1.0 stored them: add to it, never edit it.
ONE_OF_EACH = {
    "Laplace": events.Laplace(epsilon=0.1),
    "Gaussian": events.Gaussian(noise_multiplier=4),
    "DiscreteLaplace": LAPLACE,
    "DiscreteGaussian": events.DiscreteGaussian(squared_sensitivity=2, variance="1/3", grid="1/1024"),
    "RoundedGaussian": events.RoundedGaussian(squared_sensitivity=2, variance="1/3", grid="1/1024", size=3),
    "ExponentialChoice": CHOICE,
    "PermuteAndFlip": events.PermuteAndFlip(epsilon="1/3"),
    "NoisyMax": events.NoisyMax(epsilon=2),
    "AboveThreshold": events.AboveThreshold(epsilon=1, positives=5),
    "RandomizedResponse": events.RandomizedResponse(truth="3/4"),
    "UnaryEncoding": events.UnaryEncoding(keep=0.5, flip=0.25, size=10),
    "Pure": events.Pure(epsilon=0),
    "Approximate": events.Approximate(epsilon=1, delta=1e-6),
    "ZeroConcentrated": events.ZeroConcentrated(rho=0.5),
    "Renyi": events.Renyi(curve=[(2, 0.1), (1.5, "1/30")]),
    "FiniteLaws": events.FiniteLaws(outcomes=[(0.5, "1/3"), (0.25, 0.5)], added=[(0.5, 0.25), (0.5, 0.75)]),
    "PrivacyProfile": events.PrivacyProfile(points=[(0, 0.1), ("1/3", 1e-6)]),
    "Composed": LAPLACE * 3 + CHOICE,
    "Parallel": events.Parallel(LAPLACE, LAPLACE, CHOICE * 2),
    "Nothing": events.Nothing,
    "MatrixGaussian": events.MatrixGaussian(
        noise_multiplier=4, sensitivity="3/2", steps=100, separation=10, most=5
    ),
    "PoissonSampled": events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01),
    "CappedPoissonSampled": events.CappedPoissonSampled(
        events.Gaussian(noise_multiplier=4), rate=0.01, most=200, population=10_000
    ),
    "ReplacedPoissonGaussian": events.ReplacedPoissonGaussian(noise_multiplier=4, rate=0.01),
    "SampledWithoutReplacement": events.SampledWithoutReplacement(ROW, batch=32, population=1000),
    "SampledWithReplacement": events.SampledWithReplacement(ROW, draws=32, population=1000),
    "Grouped": events.Grouped(events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01), size=3),
    "BestOfRuns": events.BestOfRuns(events.Laplace(epsilon=0.1), shape="-1/2", stop=0.01),
    "BestOfPoissonRuns": events.BestOfPoissonRuns(events.Gaussian(noise_multiplier=4), mean=12.5),
    "SparseVector": events.SparseVector(events.Gaussian(noise_multiplier=4), query_epsilon=0.25, positives=5),
    "Shuffled": events.Shuffled(events.RandomizedResponse(truth="3/4"), people=10_000),
    "MixtureOfGaussians": events.MixtureOfGaussians(
        standard_deviation=2, contributions=[(1, 0.1), (3, "1/30")]
    ),
}
EACH = pytest.mark.parametrize("event", ONE_OF_EACH.values(), ids=ONE_OF_EACH.keys())
WRAPPERS = [
    event
    for event in ONE_OF_EACH.values()
    if hasattr(event, "inner") and not isinstance(event, events.Grouped)
]
LEAVES = pytest.mark.parametrize(
    "event",
    [e for e in ONE_OF_EACH.values() if not hasattr(e, "parts") and not hasattr(e, "inner")],
    ids=lambda e: type(e).__name__,
)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_stored_events_stay_readable(name):
    text = json.loads(GOLDEN.read_text())["0.1.0"][name]
    assert Event.from_json(text) == ONE_OF_EACH[name]
    assert ONE_OF_EACH[name].to_json() == text


def test_every_event_is_in_the_golden_file():
    classes = {
        name
        for name in events.__all__
        if isinstance(getattr(events, name), type) and getattr(events, name) is not Event
    }
    assert classes | {"Nothing"} == set(ONE_OF_EACH) == set(json.loads(GOLDEN.read_text())["0.1.0"])


@EACH
def test_json_reads_back_and_is_canonical(event):
    text = event.to_json()
    assert Event.from_json(text) == event
    assert Event.from_json(json.dumps(json.loads(text), indent=3)).to_json() == text
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


@EACH
def test_objects_are_what_the_text_says_and_read_back(event):
    content = event.to_object()
    assert Event.from_object(content) == event
    # To the order of fields: labels and printed answers are written in it.
    assert json.dumps(content) == json.dumps(json.loads(event.to_json()))


@pytest.mark.parametrize("wrong", [0.5, float("nan"), b"1", (1,), object()])
def test_objects_hold_plain_values_only(wrong):
    """A float that a careless writer left would pass for the decimal that it prints as."""
    inner = events.Pure(epsilon=1).to_object()
    for content in ({**inner, "epsilon": wrong}, wrong, {"event": "Composed", "parts": [[inner, wrong]]}):
        with pytest.raises(ParameterError, match=r"what Event\.to_json wrote"):
            Event.from_object(content)


def test_objects_of_great_depth_are_refused():
    content = events.Pure(epsilon=1).to_object()
    for _ in range(100_000):
        content = {"event": "Grouped", "inner": content, "size": 2}
    with pytest.raises(ParameterError, match="moderate depth"):
        Event.from_object(content)


@EACH
def test_events_are_frozen_hashable_values(event):
    for again in (pickle.loads(pickle.dumps(event)), copy.deepcopy(event)):
        assert again == event
        assert hash(again) == hash(event)
    assert not hasattr(event, "__dict__")
    for field in dataclasses.fields(event):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(event, field.name, 1)


@LEAVES
def test_leaves_are_keyword_only_and_exact(event):
    values = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    assert type(event)(**values) == event
    with pytest.raises(TypeError):
        type(event)(*values.values())
    assert not any(isinstance(value, float) for value in values.values())
    assert json.loads(event.to_json())["neighbors"] == str(event.neighbors)


@pytest.mark.parametrize("event", WRAPPERS, ids=lambda event: type(event).__name__)
def test_wrappers_take_their_event_first_and_have_its_relation(event):
    values = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    inner = values.pop("inner")
    assert type(event)(inner, **values) == event
    for wrong in (lambda: type(event)(inner, *values.values()), lambda: type(event)(inner=inner, **values)):
        with pytest.raises(TypeError):
            wrong()
    assert not any(isinstance(value, float) for value in values.values())
    assert event.neighbors == inner.neighbors
    other = type(event)(type(inner)(**{**fields_of(inner), "neighbors": other_unit(inner)}), **values)
    assert other != event
    with pytest.raises(ParameterError, match="relations do not mix"):
        _ = event + other
    with pytest.raises(ParameterError, match="relation of several units"):
        type(event)(type(inner)(**{**fields_of(inner), "neighbors": inner.neighbors.group(2)}), **values)


def fields_of(event):
    return {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}


def other_unit(event):
    relation = event.neighbors
    return Neighbors(change=relation.change, unit=Unit.ROW if relation.unit is Unit.PERSON else Unit.PERSON)


@LEAVES
def test_the_relation_is_part_of_the_event(event):
    values = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    other = type(event)(**{**values, "neighbors": other_unit(event)})
    assert other != event
    with pytest.raises(ParameterError, match="relations do not mix"):
        _ = event + other
    with pytest.raises(ParameterError, match=r"^neighbors "):
        type(event)(**{**values, "neighbors": "add-remove person"})


def test_equal_numbers_of_different_laws_are_different_events():
    assert events.NoisyMax(epsilon=1) != events.PermuteAndFlip(epsilon=1) != events.Pure(epsilon=1)


def test_reprs_read_like_the_call():
    assert repr(events.DiscreteLaplace(sensitivity=1, scale=2)) == "DiscreteLaplace(sensitivity=1, scale=2)"
    assert repr(LAPLACE) == (
        "DiscreteLaplace(sensitivity=1, scale=3.5, grid=0.25, size=3, neighbors=REPLACE_ROW)"
    )
    assert repr(ONE_OF_EACH["RandomizedResponse"]) == "RandomizedResponse(truth=0.75)"
    assert repr(ONE_OF_EACH["Renyi"]) == "Renyi(curve=((1.5, 1/30), (2, 0.1)))"
    assert repr(ONE_OF_EACH["Pure"]) == "Pure(epsilon=0)"
    a, b = events.NoisyMax(epsilon=1), events.Pure(epsilon=2)
    assert repr(a * 3 + b) == "NoisyMax(epsilon=1) * 3 + Pure(epsilon=2)"
    assert repr(events.Parallel(a, a, b)) == "Parallel(NoisyMax(epsilon=1), … 2 alike, Pure(epsilon=2))"
    assert repr(events.Nothing) == "Nothing"
    assert repr(ONE_OF_EACH["PoissonSampled"]) == "PoissonSampled(Gaussian(noise_multiplier=4), rate=0.01)"
    for event in WRAPPERS:
        assert eval(repr(event), {**vars(events), "REPLACE_ROW": REPLACE_ROW}) == event  # noqa: S307


GOOD = events.Pure(epsilon=1).to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "^text is not JSON"),
        ("nonsense", "^text is not JSON"),
        (None, "^text is a NoneType"),
        ("[" * 100_000, "^text is not JSON"),
        ("9" * 5000, "^text is not JSON"),
        ("[]", "^text is not an object"),
        ("3", "^text is not an object"),
        ("{}", "^event is missing"),
        ('{"event":"Unheard"}', "^event has the unknown name 'Unheard'"),
        ('{"event":["Pure"]}', "^event has the unknown name"),
        ('{"event":"Pure"}', r"^Pure\.epsilon is missing"),
        ('{"event":"Composed"}', r"^Composed\.parts is missing"),
        ('{"event":"Pure","epsilon":"1","color":"red"}', r"^Pure\.'color' is an unknown field"),
        ('{"event":"Pure","epsilon":"-1"}', "^epsilon is negative"),
        ('{"event":"Pure","epsilon":0.1}', "^text holds a number that is not an integer"),
        ('{"event":"Pure","epsilon":NaN}', "^text holds a number that is not an integer"),
        ('{"event":"Pure","epsilon":"1","epsilon":"2"}', "^text names a field twice"),
        ('{"event":"Pure","epsilon":null}', "^epsilon has the type NoneType"),
        ('{"event":"Pure","epsilon":"1","neighbors":"friends"}', "^neighbors is not a neighbor relation"),
        ('{"event":"Pure","epsilon":"1","neighbors":null}', "^neighbors is not a neighbor relation"),
        ('{"event":"Renyi","curve":"22"}', "^curve"),
        ('{"event":"Composed","parts":3}', r"^Composed\.parts is not a list"),
        ('{"event":"Composed","parts":[3]}', r"^Composed\.parts holds something that is not a pair"),
        ('{"event":"Composed","parts":[[' + GOOD + ",0]]}", "^times is out of range"),
        ('{"event":"Composed","parts":[[' + GOOD + ",true]]}", "^times is a boolean"),
        ('{"event":"Parallel","parts":[]}', "^parts release nothing"),
        ('{"event":"PoissonSampled","rate":"1/2"}', r"^PoissonSampled\.inner is missing"),
        ('{"event":"PoissonSampled","inner":3,"rate":"1/2"}', "^text is not an object"),
        ('{"event":"PoissonSampled","inner":' + GOOD + ',"rate":"7"}', "^rate is out of range"),
        ('{"event":"PoissonSampled","inner":' + GOOD + ',"rate":true}', "^rate "),
        ('{"event":"PoissonSampled","inner":{"event":"Mystery"},"rate":"1/2"}', "unknown name 'Mystery'"),
        ('{"event":"Shuffled","inner":' + GOOD + ',"people":3}', "^event has a relation"),
        (
            '{"event":"Shuffled","inner":' + GOOD + ',"people":3,"batch":1}',
            r"^Shuffled\.'batch' is an unknown",
        ),
        ('{"event":"Parallel","parts":[[' + GOOD + ',1],[{"event":"Mystery"},1]]}', "unknown name 'Mystery'"),
    ],
)
def test_text_that_is_no_event_is_refused_and_named(text, message):
    with pytest.raises(ParameterError, match=message):
        Event.from_json(text)


def test_a_field_with_a_default_may_be_missing():
    assert Event.from_json('{"event":"Pure","epsilon":"1"}') == events.Pure(epsilon=1)


def test_a_name_is_registered_once():
    with pytest.raises(ParameterError, match="registered already"):
        stored(type("Pure", (Event,), {}))


@pytest.mark.parametrize("bad", [-1, 1.0, "2", None, True, Fraction(2), 10**18 + 1])
def test_times_is_a_whole_number(bad):
    with pytest.raises(ParameterError, match=r"^times "):
        _ = CHOICE * bad
    with pytest.raises(ParameterError, match=r"^times "):
        _ = bad * CHOICE


def test_numpy_integers_count():
    assert CHOICE * np.int64(3) == np.int64(3) * CHOICE == CHOICE * 3


def test_only_events_add_up():
    with pytest.raises(TypeError):
        _ = CHOICE + 1


def test_python_sums_start_from_zero_and_from_nothing_else():
    event = events.Pure(epsilon=1)
    assert sum([event, event]) == event + event
    with pytest.raises(TypeError):
        _ = 1 + event


def test_a_mechanism_adds_up_like_its_event():
    from discreet.mechanisms import Gaussian, Laplace

    laplace, gaussian = Laplace(sensitivity=1, epsilon=1), Gaussian(sensitivity=1, rho=0.1)
    both = laplace.event + gaussian.event
    assert laplace.event + gaussian == both
    assert laplace + gaussian.event == both
    for wrong in (1, "event", None, object()):
        with pytest.raises(TypeError):
            laplace.event + wrong
        with pytest.raises(TypeError):
            wrong + laplace.event
