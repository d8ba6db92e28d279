"""Persons who moved about as much are charged alike: bounds hold, are few, and are near."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
import pandas as pd
import pytest

from discreet import accounting
from discreet.accounting import epsilon
from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, Table
from discreet.front import Curator
from discreet.front.alike import MOST_GROUPS, charged_alike, moved_event
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, compose

NOISES = [
    DiscreteLaplace(sensitivity=40, scale=20, size=3),
    DiscreteGaussian(squared_sensitivity=900, variance=400, size=2),
    RoundedGaussian(squared_sensitivity=900, variance=400),
]


def some_people(seed: int, number: int) -> dict:
    """Shifts within the sensitivities: some unknown, some of a measure in which a person has no row."""
    draw = np.random.default_rng(seed)
    people = {}
    for person in range(number):
        first = tuple(int(one) for one in draw.integers(0, 14, draw.integers(0, 4)))
        second = tuple(int(one) for one in draw.integers(0, 21, draw.integers(0, 3)))
        moves = [(0, None if draw.random() < 0.1 else first), (1, second)]
        if draw.random() < 0.5:
            moves.append((2, (int(draw.integers(0, 30)),)))
        people[person] = tuple(moves)
    return people


@pytest.mark.parametrize("most", [1, 2, 7, 30])
def test_a_shared_bound_is_at_least_the_loss_of_each(most):
    people = some_people(most, 60)
    shared = charged_alike(people, NOISES, most=most)
    assert set(shared) == set(people)
    assert len(set(shared.values())) <= most
    for person, moves in people.items():
        own = compose(
            NOISES[place] if shift is None else accounting.instance_event(NOISES[place], shift)
            for place, shift in moves
        )
        assert epsilon(shared[person], delta=1e-5).upper >= epsilon(own, delta=1e-5).lower


def test_a_group_has_the_most_of_every_entry_and_never_more_than_the_noise_was_made_for():
    noise = [DiscreteLaplace(sensitivity=10, scale=5, size=3)]
    small = {"p": ((0, (1, 4)),), "q": ((0, (3,)),), "r": ((0, (2, 2)),)}
    (event,) = set(charged_alike(small, noise, most=1).values())
    expected = [max(pair) for pair in zip_longest([4, 1], [2, 2], fillvalue=0)]
    assert expected == [4, 2]
    assert event == accounting.instance_event(noise[0], expected)
    long = {"p": ((0, (9,)),), "q": ((0, (3, 3, 3)),)}
    assert set(charged_alike(long, noise, most=1).values()) == {noise[0]}
    unknown = {"p": ((0, (9,)),), "q": ((0, None),)}
    assert set(charged_alike(unknown, noise, most=1).values()) == {noise[0]}
    assert charged_alike(long, noise, most=2) == {
        person: moved_event(moves, noise) for person, moves in long.items()
    }


def frame() -> pd.DataFrame:
    draw = np.random.default_rng(5)
    costs = np.round(draw.gamma(2, 60, 2400), 2)
    return pd.DataFrame(
        {"who": np.repeat(np.arange(800), 3), "city": draw.choice(["a", "b"], 2400), "cost": costs}
    )


def test_sums_of_money_take_few_losses_and_are_near_to_exact(place, monkeypatch):
    """A person's own loss in one sum is their shift over the scale: each bound is within a fiftieth above."""
    rows = frame()
    table = Table(
        rows,
        person="who",
        limits=Limits(rows=3),
        columns={"city": Keys(["a", "b"]), "cost": Bounds(0, 1000, step=0.01)},
    )
    curator = Curator({"visits": table}, budget=Budget(epsilon=20, delta=1e-5), ledger=place / "l")
    answer = curator.ask("SELECT SUM(cost) AS s FROM visits", epsilon=1)
    asked = []
    whole = accounting.epsilon
    monkeypatch.setattr(
        accounting, "epsilon", lambda *given, **named: asked.append(1) or whole(*given, **named)
    )
    report = curator.revealed([answer])
    assert len(asked) <= MOST_GROUPS + 2
    assert not report.exact
    assert "about as much" in str(report)
    own = rows.groupby("who")["cost"].sum()
    for person, total in own.items():
        exact = total / 3000
        assert exact * (1 - 1e-9) <= report.of(person) <= exact + 0.02
    asked.clear()
    both = curator.ask("SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY city", epsilon=1)
    twice = curator.revealed([answer, both], delta=1e-6)
    assert len(asked) <= MOST_GROUPS + 2
    assert all(report.of(person) * 0.99 <= loss <= twice.promised for person, loss in twice.losses.items())
