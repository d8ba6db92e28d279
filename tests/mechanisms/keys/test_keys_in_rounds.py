"""Keys in rounds: weights, thresholds and laws against brute force; more keys found than in one round."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import mpmath
import numpy as np
import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.mechanisms.keys.keys_in_rounds import SHARES, KeysInRounds, _weights
from discreet.noise import is_private, replay
from discreet.privacy.events import Event
from mechanisms.key_selection_oracle import real

MECHANISMS = [
    KeysInRounds(epsilon=1, delta=Fraction(1, 10)),
    KeysInRounds(epsilon=2, delta=1e-3, keys=3),
    KeysInRounds(epsilon=1, delta=1e-6, keys=50),
]


@pytest.mark.parametrize("unit", [1, 7, 520, 1024])
def test_weights_of_a_person_are_at_most_the_unit(unit):
    weights = _weights(unit, 5000)
    assert weights[0] == 0
    for z, weight in enumerate(weights.tolist()[1:], start=1):
        assert weight**2 * z <= unit**2 < (weight + 1) ** 2 * z


def chance(one, weight):
    """P(weight + N >= threshold) for rounded normal noise."""
    edge = one.threshold - weight - mpmath.mpf(1) / 2
    return mpmath.erfc(edge / mpmath.sqrt(2 * real(one.variance))) / 2


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_new_keys_are_found_with_at_most_delta_for_every_number_of_keys(mechanism):
    for one in mechanism.rounds:
        weights = _weights(one.unit, mechanism.keys)
        for z in range(1, mechanism.keys + 1):
            assert 1 - (1 - chance(one, int(weights[z]))) ** z <= real(one.delta)
    assert sum(one.delta for one in mechanism.rounds) == mechanism.offer.delta / 2


def test_a_threshold_one_lower_breaks_delta():
    mechanism = MECHANISMS[0]
    for one in mechanism.rounds:
        edge = one.threshold - 1 - one.unit - mpmath.mpf(1) / 2
        assert mpmath.erfc(edge / mpmath.sqrt(2 * real(one.variance))) / 2 > real(one.delta)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_a_round_keeps_what_its_event_charges(epsilon):
    """All sets of keys that a round may find, with and without a person who has both of two keys."""
    mechanism = KeysInRounds(epsilon=1, delta=Fraction(1, 10), keys=2)
    for one in mechanism.rounds:
        weight = int(_weights(one.unit, 2)[2])
        charged = accounting.delta(one.event, epsilon=epsilon).upper
        for starts in product((0, one.threshold - weight, one.threshold), repeat=2):
            laws = []
            for added in (0, weight):
                shown = [float(chance(one, start + added)) if start + added else 0.0 for start in starts]
                laws.append(
                    [(p if a else 1 - p) * (q if b else 1 - q) for (p, q) in [shown] for a, b in SETS]
                )
            for p, q in (laws, laws[::-1]):
                gap = sum(max(a - exp(epsilon) * b, 0) for a, b in zip(p, q, strict=True))
                assert gap <= charged + 1e-9


SETS = list(product((False, True), repeat=2))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_event_costs_at_most_the_offer(mechanism):
    promise = mechanism.guarantee
    found = accounting.delta(mechanism.event, epsilon=float(promise.epsilon)).upper
    assert found <= float(promise.delta) * (1 + 1e-6)
    assert Event.from_json(mechanism.event.to_json()) == mechanism.event
    assert sum(SHARES) == 1


def test_a_person_alone_is_hardly_ever_shown():
    mechanism = KeysInRounds(epsilon=1, delta=Fraction(1, 10), keys=3)
    persons = np.repeat(np.arange(20_000), 3)
    found = mechanism.release(persons, np.arange(60_000)).reshape(-1, 3)
    assert found.any(axis=1).mean() <= 0.05 + 0.01


def test_keys_of_many_are_found_and_pairs_count_once():
    mechanism = KeysInRounds(epsilon=1, delta=1e-6, keys=2)
    persons = np.repeat(np.arange(3000), 4)
    keys = np.tile([0, 1, 0, 1], 3000)
    assert mechanism.release(persons, keys).tolist() == [True, True]
    alone = mechanism.release(np.zeros(5000, np.int64), np.zeros(5000, np.int64))
    assert alone.tolist() == [False]
    assert mechanism.release([], []).tolist() == []
    with replay(2):
        assert not is_private(mechanism.release(persons, keys))


def test_persons_of_too_many_keys_are_left_out():
    mechanism = KeysInRounds(epsilon=1, delta=1e-6, keys=2)
    persons, keys = np.repeat(np.arange(3000), 3), np.tile([0, 1, 2], 3000)
    assert not mechanism.release(persons, keys).any()


def test_rounds_find_more_keys_than_one_where_persons_have_fewer_keys_than_the_limit():
    draw = np.random.default_rng(3)
    persons, limit = 20_000, 100
    ranks = np.minimum(draw.zipf(1.2, persons * 10), 50_000)
    who, keys = np.repeat(np.arange(persons), 10), ranks.astype(np.int64)
    found = KeysInRounds(epsilon=1, delta=1e-6, keys=limit).release(who, keys).sum()
    counts = np.bincount(np.unique(who * 60_000 + keys) % 60_000)
    plain = KeySelection.best(epsilon=1, delta=1e-6, keys=limit).release(counts).sum()
    assert found > 1.2 * plain


def test_the_size_that_is_told_is_that_of_persons_with_no_other_key():
    mechanism = MECHANISMS[2]
    half, most = mechanism.size_for(0.5), mechanism.size_for(0.95)
    last = mechanism.rounds[-1]
    assert chance(last, half * last.unit) >= 0.5 > chance(last, (half - 1) * last.unit)
    assert half < most
    assert repr(mechanism) == "KeysInRounds(epsilon=1, delta=1e-6, keys=50)"
    assert str(mechanism.neighbors) == "add-remove person"
    with pytest.raises(ParameterError):
        KeysInRounds(epsilon=0, delta=1e-6)
