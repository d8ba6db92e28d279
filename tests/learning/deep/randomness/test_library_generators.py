"""Generators of other libraries get a secret state, and their own back to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from discreet.learning.deep.randomness.library_generators import (
    LibraryGenerators,
    library_states,
    set_libraries,
)
from discreet.noise import current, replay


def draws():
    return random.random(), np.random.normal(), np.random.random()  # noqa: NPY002


@pytest.fixture
def as_before():
    """Leaves NumPy with the kind of generator that it had."""
    states, bits = library_states(), np.random.get_bit_generator()
    yield
    np.random.set_bit_generator(bits)
    set_libraries(states)


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("kind", [np.random.MT19937, np.random.PCG64, np.random.Philox])
def test_states_are_secret_and_those_outside_come_back(kind):
    own = kind(3)
    np.random.set_bit_generator(own)
    random.seed(3)
    np.random.normal()  # noqa: NPY002 - NumPy may keep a second one
    outside = library_states()
    expected = draws()
    seen = set()
    for _ in range(5):
        set_libraries(outside)
        generators = LibraryGenerators()
        for _ in range(3):
            generators.lend(current())
            generators.lend(current())  # which is nothing more
            assert type(np.random.get_bit_generator()) is kind
            seen |= set(draws())
            generators.take_back()
        assert np.random.get_bit_generator() is own
        assert draws() == expected
        generators.take_back()  # which is nothing more
    assert len(seen) == 45
    assert not seen & set(expected)


@pytest.mark.usefixtures("as_before")
def test_the_whole_state_of_python_is_drawn_and_a_replay_repeats_it():
    found = []
    for seed in (5, 5, 6):
        generators = LibraryGenerators()
        with replay(seed):
            generators.lend(current())
        found.append((random.getstate()[1], draws()))
        generators.take_back()
    assert found[0] == found[1]
    same = sum(one == other for one, other in zip(found[0][0][:624], found[2][0][:624], strict=True))
    assert same <= 2  # the first word is the same for all
