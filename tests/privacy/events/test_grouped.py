"""Several changes at once: what a chain costs, and which sizes there are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, events
from discreet.privacy.events import Event, Grouped, group

EVENTS = [events.Pure(epsilon="1/3"), events.Gaussian(noise_multiplier=2), events.ZeroConcentrated(rho="1/5")]


@pytest.mark.parametrize("event", EVENTS, ids=str)
@pytest.mark.parametrize("size", [2, 3, 10**17])
def test_a_chain_costs_its_length_or_the_square_of_it(event, size):
    chain = Grouped(event, size=size)
    if event.pure_epsilon is not None:
        assert chain.pure_epsilon == size * event.pure_epsilon
        assert chain.concentrated_rho == min(chain.pure_epsilon**2 / 2, size**2 * event.concentrated_rho)
        assert chain.simple == events.Pure(epsilon=chain.pure_epsilon, neighbors=chain.neighbors)
    else:
        assert chain.pure_epsilon is None
        assert chain.concentrated_rho == size**2 * event.concentrated_rho
        assert chain.simple == events.ZeroConcentrated(rho=chain.concentrated_rho, neighbors=chain.neighbors)
    assert chain.neighbors == ADD_REMOVE_PERSON.group(size)
    assert Event.from_json(chain.to_json()) == chain


def test_chains_of_chains_are_as_long_as_both():
    assert group(Grouped(EVENTS[1], size=2), 3) == Grouped(EVENTS[1], size=6)


def test_a_curve_alone_has_no_simple_event():
    curve = Grouped(events.Renyi(curve=[(8, Fraction(1, 2))]), size=2)
    assert curve.simple is None
    assert curve.concentrated_rho is None


@pytest.mark.parametrize("size", [-1, 0, 1, 10**18, 2.5])
def test_sizes_that_no_relation_holds_are_refused_when_it_is_built(size):
    with pytest.raises(ParameterError, match="size"):
        Grouped(EVENTS[0], size=size)


@pytest.mark.parametrize("event", [events.Nothing, "event", None])
def test_what_releases_nothing_is_refused(event):
    with pytest.raises(ParameterError, match="event"):
        Grouped(event, size=2)
