"""The algebra of composition, parallel parts, and the rules for post-processing and groups on events."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_PERSON, REPLACE_ROW, events
from discreet.privacy.events import Composed, Event, Nothing, Parallel, compose, group, post_process

SOURCE = np.random.default_rng(1701)
EPSILONS = st.fractions(Fraction(1, 100), 10, max_denominator=100)
SIMPLE = st.one_of(
    st.builds(events.Pure, epsilon=EPSILONS),
    st.builds(events.DiscreteLaplace, sensitivity=EPSILONS, scale=EPSILONS),
    st.builds(events.DiscreteGaussian, squared_sensitivity=EPSILONS, variance=EPSILONS),
    st.builds(events.Gaussian, noise_multiplier=EPSILONS),
    st.builds(
        lambda e, s, q: events.PoissonSampled(
            events.Pure(epsilon=e) + events.Gaussian(noise_multiplier=s), rate=q
        ),
        EPSILONS,
        EPSILONS,
        st.fractions(0, 1, max_denominator=9),
    ),
    st.just(Nothing),
)
EVENTS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, n: a * n, inner, st.integers(0, 5)),
        st.builds(lambda a, b: Parallel(a, b, events.Pure(epsilon=1)), inner, inner),
    ),
    max_leaves=6,
)


@given(EVENTS, EVENTS, EVENTS, st.integers(0, 9), st.integers(0, 9))
def test_composition_is_a_multiset(a, b, c, m, n):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == compose([c, a, b])
    assert a + Nothing == a == Nothing + a
    assert a * 1 == a
    assert a * 0 == Nothing
    assert (a * m) * n == a * (m * n)
    assert a * m + a * n == a * (m + n)
    assert (a + b) * n == a * n + b * n
    assert hash(a + b) == hash(b + a)
    assert (a + b).to_json() == (b + a).to_json()


@given(EVENTS)
def test_json_reads_back(event):
    assert Event.from_json(event.to_json()) == event


@given(EVENTS, EVENTS)
def test_costs_add_up(a, b):
    for name in ("pure_epsilon", "concentrated_rho"):
        parts, whole = [getattr(a, name), getattr(b, name)], getattr(a + b, name)
        assert whole == (None if None in parts else sum(parts))


def test_once_is_the_event_itself():
    event = events.Pure(epsilon=1)
    assert event * 1 is event
    assert event + Nothing is event
    with pytest.raises(ParameterError, match=r"^parts hold one event"):
        Composed(parts=[(event, 1)])
    assert Event.from_json('{"event":"Composed","parts":[[' + event.to_json() + ",1]]}") == event


def test_huge_counts_are_stored_as_counts():
    run = events.Gaussian(noise_multiplier=100) * 10**9
    assert len(run.to_json()) < 200
    assert run.concentrated_rho == Fraction(10**9, 20_000)
    with pytest.raises(ParameterError, match=r"^times "):
        _ = run * 10**10


def test_relations_do_not_mix():
    a, b = events.Pure(epsilon=1), events.Pure(epsilon=1, neighbors=REPLACE_ROW)
    for mix in (
        lambda: a + b,
        lambda: Parallel(a, b),
        lambda: compose([a, a, b]),
        lambda: Parallel(a) + b * 2,
    ):
        with pytest.raises(ParameterError, match="relations do not mix"):
            mix()
    assert (b + Nothing).neighbors == REPLACE_ROW
    assert Nothing.neighbors is None
    assert (a * 2).neighbors == Parallel(a).neighbors == ADD_REMOVE_PERSON


def test_parallel_is_canonical():
    a, b = events.Pure(epsilon=1), events.Pure(epsilon=2)
    assert Parallel(a, b) == Parallel(b, a)
    assert Parallel(Parallel(a, a), b, Nothing) == Parallel(a, b, a)
    assert Parallel(a, a) != Parallel(a)
    assert Parallel(a * 2, b) != Parallel(a, a, b)
    assert (Parallel(a, b) + a) * 2 == Parallel(b, a) * 2 + a * 2


def test_parallel_needs_parts_that_release():
    for bad in ((), (Nothing,)):
        with pytest.raises(ParameterError, match=r"^parts release nothing"):
            Parallel(*bad)
    with pytest.raises(ParameterError, match=r"^parts hold something"):
        Parallel("event")


def test_nesting_is_bounded():
    event = events.Pure(epsilon=1)
    for _ in range(25):
        event = Parallel(event * 2)
    assert Event.from_json(event.to_json()) == event
    with pytest.raises(ParameterError, match="nested too deeply"):
        Parallel(event * 2)


# Post-processing


def hockey_stick(p, q, factor):
    return np.maximum(p - factor * q, 0).sum()


def renyi(p, q, order):
    return np.log((p**order * q ** (1 - order)).sum()) / (order - 1)


def test_post_processing_returns_the_same_event():
    for event in (events.Pure(epsilon=1), Nothing, Parallel(events.Pure(epsilon=1)) * 7):
        assert post_process(event) is event
    with pytest.raises(ParameterError, match=r"^event "):
        post_process("release")


def test_no_function_of_a_release_reveals_more():
    for _ in range(300):
        p, q = SOURCE.dirichlet(np.ones(5), 2)
        random_function = SOURCE.dirichlet(np.full(3, 0.3), 5)  # row i: the law of f(i)
        image_p, image_q = p @ random_function, q @ random_function
        for factor in np.exp([0, 0.1, 1, 3]):
            assert hockey_stick(image_p, image_q, factor) <= hockey_stick(p, q, factor) + 1e-12
        for order in (1.01, 2, 8):
            assert renyi(image_p, image_q, order) <= renyi(p, q, order) + 1e-12


def test_a_function_that_reads_the_data_again_would_cost():
    p = q = np.array([0.5, 0.5])
    assert hockey_stick(p @ np.eye(2), q @ np.eye(2)[::-1], 1) == 0  # f may depend on what is public ...
    assert (
        hockey_stick(p @ np.array([[1, 0], [1, 0]]), q @ np.array([[0, 1], [0, 1]]), 1) == 1
    )  # ... not on x


# Groups


@pytest.mark.parametrize("size", [2, 3, 10])
def test_groups_of_leaves(size):
    relation, local = ADD_REMOVE_PERSON.group(size), REPLACE_PERSON.group(size)
    response = events.RandomizedResponse(truth="3/4")
    unary = events.UnaryEncoding(keep="1/2", flip="1/4", size=5)
    expected = {
        events.Laplace(epsilon=0.1): events.Laplace(epsilon=Fraction(size, 10), neighbors=relation),
        events.Gaussian(noise_multiplier=4): events.Gaussian(
            noise_multiplier=Fraction(4, size), neighbors=relation
        ),
        events.DiscreteLaplace(sensitivity=2, scale=3, grid=0.5, size=4): events.DiscreteLaplace(
            sensitivity=2 * size, scale=3, grid=0.5, size=4, neighbors=relation
        ),
        events.DiscreteGaussian(squared_sensitivity=2, variance=3, grid=0.5, size=4): events.DiscreteGaussian(
            squared_sensitivity=2 * size**2, variance=3, grid=0.5, size=4, neighbors=relation
        ),
        events.ExponentialChoice(epsilon=1): events.ExponentialChoice(epsilon=size, neighbors=relation),
        events.PermuteAndFlip(epsilon=1): events.Pure(epsilon=size, neighbors=relation),
        events.NoisyMax(epsilon=1): events.Pure(epsilon=size, neighbors=relation),
        events.AboveThreshold(epsilon=1, positives=3): events.Pure(epsilon=size, neighbors=relation),
        events.Pure(epsilon=1): events.Pure(epsilon=size, neighbors=relation),
        events.ZeroConcentrated(rho=1): events.ZeroConcentrated(rho=size**2, neighbors=relation),
        events.Approximate(epsilon=0, delta=0.01): events.Approximate(
            epsilon=0, delta=Fraction(size, 100), neighbors=relation
        ),
        response: events.Pure(epsilon=size * response.pure_epsilon, neighbors=local),
        unary: events.Pure(epsilon=size * unary.pure_epsilon, neighbors=local),
    }
    for event, grouped in expected.items():
        assert group(event, size) == grouped
        assert group(event, 1) is event


def test_group_of_a_renyi_curve_keeps_the_orders_that_are_high_enough():
    curve = events.Renyi(curve=[(2, 0.1), (8, 0.4), (16, 0.8)])
    grouped = group(curve, 3)
    assert grouped == events.Renyi(curve=[(2, 3.6), (4, 7.2)], neighbors=ADD_REMOVE_PERSON.group(3))
    with pytest.raises(ParameterError, match=r"^order .*2\^5"):
        group(curve, 16)
    with pytest.raises(ParameterError, match=r"^order .*2\^5"):
        group(events.Renyi(curve=[(2, 0.1)]), 16)


@given(EVENTS, st.integers(1, 6))
def test_group_of_a_composition_is_composed(event, size):
    doubled = group(event + event, size)
    assert doubled == group(event, size) * 2
    if event != Nothing:
        assert doubled.neighbors == event.neighbors.group(size)


@given(EVENTS, st.integers(2, 6))
def test_groups_never_cost_less(event, size):
    grouped = group(event, size)
    if event.concentrated_rho is not None:
        assert grouped.concentrated_rho >= event.concentrated_rho


def joint_loss(parts, before, after):
    """Worst ratio of the joint law of independent geometric noise, of ratio r, on each part's count."""
    return np.prod([Fraction(r) ** abs(a - b) for r, a, b in zip(parts, before, after, strict=True)])


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("ratios", [(2, 3), (2, 2), (5, 2, 3)])
def test_parallel_group_is_attained_by_search(ratios, size):
    """Each person sits in one part; parts are counts with losses of log(ratio) for each step."""
    persons = 4
    places = range(len(ratios))
    tables = [table for n in range(persons + 1) for table in product(places, repeat=n)]
    counts = {tuple(table.count(part) for part in places) for table in tables}
    # Units of loss: log(r) has no rational value, so epsilons are compared as ratios.
    for relation, touched in ((ADD_REMOVE_PERSON, 1), (REPLACE_PERSON, 2)):
        pairs = [
            (one, other)
            for one, other in product(counts, repeat=2)
            if (
                sum(abs(a - b) for a, b in zip(one, other, strict=True)) <= size
                if relation == ADD_REMOVE_PERSON
                else sum(one) == sum(other)
                and sum(abs(a - b) for a, b in zip(one, other, strict=True)) <= 2 * size
            )
        ]
        worst = max(joint_loss(ratios, one, other) for one, other in pairs)
        bound = np.prod([Fraction(r) for r in sorted(ratios)[-touched:]]) ** size
        assert worst == bound
        # The rule, with integer epsilons that are ordered as the ratios are.
        event = Parallel(*(events.Pure(epsilon=r, neighbors=relation) for r in ratios))
        assert group(event, size).pure_epsilon == size * sum(sorted(ratios)[-touched:])


def test_parallel_groups():
    pure = [events.Pure(epsilon=e) for e in (1, 3, 2)]
    assert group(Parallel(*pure), 4) == events.Pure(epsilon=12, neighbors=ADD_REMOVE_PERSON.group(4))
    gaussians = [events.Gaussian(noise_multiplier=m) for m in (1, 2)]
    assert group(Parallel(*gaussians, pure[0]), 2) == events.ZeroConcentrated(
        rho=2, neighbors=ADD_REMOVE_PERSON.group(2)
    )
    mixed = Parallel(pure[0], events.Approximate(epsilon=1, delta=0.1))
    assert mixed.pure_epsilon is mixed.concentrated_rho is None
    with pytest.raises(ParameterError, match=r"^event has a parallel part"):
        group(mixed, 2)
    assert group(mixed, 1) is mixed


def test_parallel_parts_of_a_group_may_all_be_touched():
    parts = [events.Pure(epsilon=e, neighbors=ADD_REMOVE_PERSON.group(2)) for e in (1, 3, 2)]
    assert Parallel(*parts).pure_epsilon == 5


@pytest.mark.parametrize("size", [0, -1, 2.0, True, None])
def test_group_sizes_are_checked(size):
    with pytest.raises(ParameterError, match=r"^size "):
        group(events.Pure(epsilon=1), size)
    with pytest.raises(ParameterError, match=r"^event "):
        group("event", 2)


@given(st.lists(SIMPLE, max_size=8))
def test_events_added_one_by_one_are_the_composition(terms):
    total = Nothing
    for term in terms:
        total = total + term
    assert total == compose(terms)
    assert total.to_json() == compose(terms).to_json()
    reverse = Nothing
    for term in reversed(terms):
        reverse = term + reverse
    assert reverse == total


def test_what_sums_refuse_is_refused_by_plus():
    total = events.Pure(epsilon=1) + events.Pure(epsilon=2)
    with pytest.raises(ParameterError, match="relations do not mix"):
        total + events.Pure(epsilon=1, neighbors=REPLACE_PERSON)
    most = events.Pure(epsilon=1) * 10**18
    with pytest.raises(ParameterError, match="out of range"):
        most + events.Pure(epsilon=1)


@pytest.mark.parametrize("pair", [[], ["event"], ["event", 1, 1], {"event": 1}, "event", None])
def test_what_is_no_pair_of_event_and_count_is_not_read(pair):
    total = events.Pure(epsilon=1) + events.Gaussian(noise_multiplier=1)
    stored = json.loads(total.to_json())
    assert Event.from_json(json.dumps(stored)) == total
    first = stored["parts"][0]
    if isinstance(pair, list):
        pair = [first[0] if item == "event" else item for item in pair]
    stored["parts"][0] = pair
    with pytest.raises(ParameterError, match="not a pair"):
        Event.from_json(json.dumps(stored))
