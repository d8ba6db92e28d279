"""Questions and offers, as options."""

from __future__ import annotations

from argparse import ArgumentParser

import pytest

from discreet.cli.questions import add_offer_options, cost, offer_of
from discreet.data import AUTO, Limits
from discreet.errors import ParameterError
from discreet.privacy.events import Approximate, Pure, ZeroConcentrated


def offer(*typed):
    parser = ArgumentParser()
    add_offer_options(parser)
    return offer_of(parser.parse_args(typed))


def test_offers():
    assert offer("--epsilon", "0.5") == {"epsilon": "0.5", "confidence": "0.95"}
    assert offer("--epsilon", "1/3", "--delta", "1e-6")["delta"] == "1e-6"
    assert offer("--rho", "0.1", "--confidence", "0.9") == {"rho": "0.1", "confidence": "0.9"}
    assert offer("--error", "n=10", "--error", "a=b=3")["error"] == {"n": "10", "a=b": "3"}
    assert offer("--rho", "1", "--split", "n=2")["split"] == {"n": "2"}


def test_limits_and_bounds_of_one_question():
    assert offer("--epsilon", "1", "--limits", "auto", "--bounds", "auto") == {
        "epsilon": "1",
        "confidence": "0.95",
        "limits": AUTO,
        "bounds": AUTO,
    }
    assert offer("--epsilon", "1", "--limits", "8")["limits"] == Limits(rows=8)
    for typed in ("many", "-1", "0", "1.5", ""):
        with pytest.raises(ParameterError):
            offer("--epsilon", "1", "--limits", typed)


@pytest.mark.parametrize(
    "typed",
    [(), ("--delta", "1e-6"), ("--error", "n"), ("--error", "=1"), ("--error", "n=1", "--rho", "1")],
)
def test_offers_that_are_none(typed):
    with pytest.raises(ParameterError):
        offer(*typed)


def test_costs_in_words():
    assert cost(Pure(epsilon="0.1")) == "epsilon 0.1"
    assert cost(Pure(epsilon="1/3") * 2) == "epsilon 0.666667"
    assert cost(ZeroConcentrated(rho="0.01")) == "rho 0.01"
    assert cost(Approximate(epsilon=1, delta="1e-6")) == "epsilon 1 and delta 1e-6"
