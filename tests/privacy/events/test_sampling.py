from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_PERSON, REPLACE_ROW, events
from discreet.privacy.events.event import Event

GOLDEN = Path(__file__).parent.parent / "stored_events.json"
RESPONSE = events.RandomizedResponse(truth="3/4")
LOCAL = events.Pure(epsilon=1, neighbors=REPLACE_ROW)

# One of each, as version 0.1.0 stores them: add to the golden file, never edit it.
ONE_OF_EACH = {
    "PoissonSampled": events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01),
    "SampledWithoutReplacement": events.SampledWithoutReplacement(LOCAL, batch=32, population=1000),
    "SampledWithReplacement": events.SampledWithReplacement(LOCAL, draws=32, population=1000),
    "Shuffled": events.Shuffled(RESPONSE, people=10_000),
}
EACH = pytest.mark.parametrize("event", ONE_OF_EACH.values(), ids=ONE_OF_EACH.keys())


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_stored_samples_stay_readable(name):
    text = json.loads(GOLDEN.read_text())["0.1.0"][name]
    assert Event.from_json(text) == ONE_OF_EACH[name]
    assert ONE_OF_EACH[name].to_json() == text


@EACH
def test_samples_are_frozen_values_that_add_up(event):
    for again in (pickle.loads(pickle.dumps(event)), copy.deepcopy(event), Event.from_json(event.to_json())):
        assert again == event
        assert hash(again) == hash(event)
    assert not hasattr(event, "__dict__")
    for field in dataclasses.fields(event):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(event, field.name, 1)
    assert event + event == event * 2
    assert Event.from_json((event * 3).to_json()) == event * 3
    assert event.neighbors == event.inner.neighbors


def test_reprs_read_like_the_call():
    for event in ONE_OF_EACH.values():
        assert eval(repr(event), {**vars(events), "REPLACE_ROW": REPLACE_ROW}) == event  # noqa: S307
    assert repr(ONE_OF_EACH["PoissonSampled"]) == "PoissonSampled(Gaussian(noise_multiplier=4), rate=0.01)"


def test_pure_epsilons_are_amplified_and_rounded_up():
    poisson = events.PoissonSampled(events.Pure(epsilon=1), rate=0.1)
    exact = math.log1p(0.1 * math.expm1(1))
    for event in (poisson, events.SampledWithoutReplacement(LOCAL, batch=1, population=10)):
        assert exact <= event.pure_epsilon <= exact * (1 + 1e-15)
        assert event.concentrated_rho == event.pure_epsilon**2 / 2
    drawn = events.SampledWithReplacement(LOCAL, draws=3, population=10)
    assert float(drawn.pure_epsilon) == pytest.approx(3 * exact)
    assert ONE_OF_EACH["Shuffled"].pure_epsilon == RESPONSE.pure_epsilon
    assert ONE_OF_EACH["PoissonSampled"].pure_epsilon is None
    assert ONE_OF_EACH["PoissonSampled"].concentrated_rho == Fraction(1, 32)
    assert events.PoissonSampled(events.Pure(epsilon=1), rate=0).pure_epsilon == 0
    assert events.PoissonSampled(events.Pure(epsilon=1), rate=1).pure_epsilon == 1
    assert events.PoissonSampled(events.Pure(epsilon=10**9), rate="1/2").pure_epsilon == 10**9
    tiny = events.PoissonSampled(events.Pure(epsilon=1e-200), rate=1e-9).pure_epsilon
    assert 1e-209 <= tiny <= Fraction(1, 10**200)


def response(value):
    return np.array([0.75, 0.25]) if value == 0 else np.array([0.25, 0.75])


def majority_loss(samples, population):
    """The worst loss of a randomized response on whether a sample holds a one."""
    worst = 0.0
    for rest in product((0, 1), repeat=population - 1):
        laws = [sum(response(int(any((*rest, value)[i] for i in s))) for s in samples) for value in (0, 1)]
        worst = max(worst, float(np.abs(np.log(laws[0] / laws[1])).max()))
    return worst


@pytest.mark.parametrize(("size", "population"), [(1, 2), (2, 3), (2, 4), (3, 3)])
def test_amplified_epsilons_hold_by_enumeration(size, population):
    inner = events.RandomizedResponse(truth="3/4", neighbors=REPLACE_ROW)
    without = events.SampledWithoutReplacement(inner, batch=size, population=population)
    assert majority_loss(list(combinations(range(population), size)), population) <= without.pure_epsilon * (
        1 + 1e-12
    )
    drawn = events.SampledWithReplacement(inner, draws=size, population=population)
    assert majority_loss(list(product(range(population), repeat=size)), population) <= drawn.pure_epsilon * (
        1 + 1e-12
    )


def test_groups():
    event = events.group(ONE_OF_EACH["PoissonSampled"], 2)
    assert event == events.PoissonSampled(
        events.Gaussian(noise_multiplier=2, neighbors=ADD_REMOVE_PERSON.group(2)),
        rate=1 - Fraction(99, 100) ** 2,
    )
    many = events.group(ONE_OF_EACH["PoissonSampled"], 10**6)
    assert many.rate == 1
    some = events.group(events.PoissonSampled(events.Pure(epsilon=1), rate="1/1000003"), 1000)
    assert 1 - (1 - 1 / 1000003) ** 1000 <= some.rate <= Fraction(1000, 1000003) * (1 + Fraction(1, 10**15))
    fixed = events.group(ONE_OF_EACH["SampledWithoutReplacement"], 3)
    assert fixed.pure_epsilon == 3 * ONE_OF_EACH["SampledWithoutReplacement"].pure_epsilon
    gaussian = events.Gaussian(noise_multiplier=2, neighbors=REPLACE_PERSON)
    rho = events.group(events.SampledWithoutReplacement(gaussian, batch=1, population=5), 3)
    assert rho == events.ZeroConcentrated(rho=Fraction(9, 8), neighbors=REPLACE_PERSON.group(3))
    with pytest.raises(ParameterError, match="neither"):
        events.group(events.SampledWithReplacement(gaussian, draws=1, population=5), 3)


def deep(levels):
    event = events.Gaussian(noise_multiplier=1)
    for _ in range(levels):
        event = events.PoissonSampled(event * 2, rate=0.5)
    return event


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: events.PoissonSampled(events.Pure(epsilon=1), rate=-0.1), "rate"),
        (lambda: events.PoissonSampled(events.Pure(epsilon=1), rate=1.1), "rate"),
        (lambda: events.PoissonSampled(events.Pure(epsilon=1), rate=float("nan")), "rate"),
        (lambda: events.PoissonSampled(3, rate=0.1), "event"),
        (lambda: events.PoissonSampled(LOCAL, rate=0.1), "event"),
        (lambda: events.PoissonSampled(events.Nothing, rate=0.1), "event"),
        (lambda: deep(60), "event"),
        (lambda: events.SampledWithoutReplacement(LOCAL, batch=11, population=10), "batch"),
        (lambda: events.SampledWithoutReplacement(LOCAL, batch=-1, population=10), "batch"),
        (lambda: events.SampledWithoutReplacement(LOCAL, batch=0, population=0), "population"),
        (lambda: events.SampledWithoutReplacement(events.Pure(epsilon=1), batch=1, population=10), "event"),
        (lambda: events.SampledWithReplacement(LOCAL, draws=1.5, population=10), "draws"),
        (lambda: events.SampledWithReplacement(events.group(LOCAL, 2), draws=1, population=10), "event"),
        (lambda: events.Shuffled(RESPONSE, people=0), "people"),
        (lambda: events.Shuffled(events.Pure(epsilon=1), people=3), "event"),
        (
            lambda: events.Shuffled(events.Gaussian(noise_multiplier=1, neighbors=REPLACE_ROW), people=3),
            "event",
        ),
    ],
)
def test_bad_values_are_refused_by_name(make, name):
    with pytest.raises(ParameterError, match=f"^{name} "):
        make()


def test_text_with_wrong_parts_is_refused():
    good = ONE_OF_EACH["PoissonSampled"].to_json()
    for old, new, message in [
        ('"rate":"1/100"', '"rate":"7"', "^rate "),
        ('"Gaussian"', '"Mystery"', "Mystery"),
        ('"rate":"1/100"', '"rate":"1/100","batch":3', "unknown field"),
    ]:
        with pytest.raises(ParameterError, match=message):
            Event.from_json(good.replace(old, new))
    with pytest.raises(ParameterError, match="missing"):
        Event.from_json('{"event":"PoissonSampled","rate":"1/2"}')
