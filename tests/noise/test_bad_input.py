"""Bad parameters of every public function: refused with the parameter's name, before a word is drawn."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import (
    bernoulli,
    bernoulli_exponential,
    choose,
    replay,
    sample_gaussian,
    sample_geometric,
    sample_laplace,
    sample_rounded_gaussian,
    uniform_below,
)
from discreet.noise.grid import check_grid
from discreet.noise.layered_gaussian import sample_layered_gaussian
from noise.sources import Counting, Scripted

NAN, INFINITY = float("nan"), float("inf")
NOT_RATIONAL = [
    0.5,
    1.0,
    NAN,
    INFINITY,
    -INFINITY,
    True,
    np.float64(2),
    np.bool_(True),
    "1/2",
    None,
    1j,
    [1],
    Decimal(1),
]
NOT_POSITIVE = [0, -1, Fraction(0), Fraction(-1, 3), -(10**400)]
NOT_INTEGER = [2.0, 2.5, NAN, INFINITY, True, Fraction(5, 2), "3", None, [3], np.float64(3)]
EXPONENTS = np.array([0, 1, 2])


def refused(name: str, call) -> None:
    source = Counting()
    with pytest.raises(ParameterError) as caught:
        call(source)
    assert caught.value.parameter == name
    assert str(caught.value).startswith(name)
    assert source.drawn == 0, "words were drawn before the parameter was refused"


OUT_OF_SCALE = [
    Fraction(1, 101),
    Fraction(99, 10000),
    Fraction(1, 10**400),
    2**40 + 1,
    2**40 + Fraction(1, 10),
    10**400,
    Fraction(2**5000 + 1, 2**5000),
]


@pytest.mark.parametrize("sampler", [sample_laplace, sample_geometric])
@pytest.mark.parametrize(
    "scale", [*NOT_RATIONAL, *NOT_POSITIVE, *OUT_OF_SCALE], ids=lambda value: str(value)[:12]
)
def test_scales(sampler, scale):
    refused("scale", lambda source: sampler(scale, 3, source))


OUT_OF_VARIANCE = [
    Fraction(1, 10001),
    Fraction(1, 10**400),
    2**80 + 1,
    10**400,
    Fraction(2**3000 + 1, 2**3000),
]


@pytest.mark.parametrize(
    "variance", [*NOT_RATIONAL, *NOT_POSITIVE, *OUT_OF_VARIANCE], ids=lambda value: str(value)[:12]
)
def test_variances(variance):
    refused("variance", lambda source: sample_gaussian(variance, 3, source))
    refused("variance", lambda source: sample_rounded_gaussian(variance, 3, source))
    refused("variance", lambda source: sample_layered_gaussian(variance, 3, source))


@pytest.mark.parametrize("probability", [*NOT_RATIONAL, -1, 2, Fraction(3, 2), Fraction(-1, 10**9)], ids=str)
def test_probabilities(probability):
    refused("probability", lambda source: bernoulli(probability, 3, source))


@pytest.mark.parametrize(
    "bound", [*NOT_INTEGER, 0, -1, 2**62 + 1, 2**64, 10**400], ids=lambda value: str(value)[:12]
)
def test_bounds(bound):
    refused("bound", lambda source: uniform_below(bound, 3, source))


@pytest.mark.parametrize("draw", [bernoulli_exponential, choose])
@pytest.mark.parametrize("rate", [*NOT_RATIONAL, *NOT_POSITIVE], ids=lambda value: str(value)[:12])
def test_rates(draw, rate):
    refused("rate", lambda source: draw(EXPONENTS, rate, source))


NOT_EXPONENTS = {
    "negative": np.array([0, -1]),
    "least integer": np.array([0, -(2**63)]),
    "floats": np.array([0.0, 0.5]),
    "whole floats": np.array([0.0, 1.0, 2.0]),
    "NaN": np.array([0.0, NAN]),
    "booleans": np.array([False, True]),
    "too large": np.array([0, 2**64 - 1], np.uint64),
    "objects": np.array([0, 2**70], object),
    "strings": np.array(["0", "1"]),
    "a table": np.zeros((2, 2), np.int64),
    "a number": np.array(0),
    "an int": 3,
    "nothing": None,
}


@pytest.mark.parametrize("draw", [bernoulli_exponential, choose])
@pytest.mark.parametrize("exponents", NOT_EXPONENTS.values(), ids=NOT_EXPONENTS)
def test_exponents(draw, exponents):
    refused("exponents", lambda source: draw(exponents, Fraction(1), source))


UNUSUAL_EXPONENTS = {
    "short integers": np.array([0, 5], np.int32),
    "bytes": np.array([0, 5], np.uint8),
    "big-endian": np.array([0, 5], ">i8"),
    "every other": np.array([0, 9, 5, 9])[::2],
    "a list": [0, 5],
}


@pytest.mark.parametrize("exponents", UNUSUAL_EXPONENTS.values(), ids=UNUSUAL_EXPONENTS)
@pytest.mark.parametrize("word", [2**57, 2**60, 2**63 + 2**62])
def test_unusual_exponents_are_refused_or_read_rightly(exponents, word):
    usual = np.array([0, 5])
    for draw, words in ((bernoulli_exponential, [word, word]), (choose, [word])):
        with suppress(ParameterError):
            drawn = draw(exponents, Fraction(1), Scripted(words))
            assert np.array_equal(drawn, draw(usual, Fraction(1), Scripted(words)))


@pytest.mark.parametrize("exponents", [np.array([], np.int64), np.array([1, 2])], ids=["empty", "no zero"])
def test_exponents_of_a_choice(exponents):
    refused("exponents", lambda source: choose(exponents, Fraction(1), source))


SAMPLERS = {
    "laplace": lambda size, source: sample_laplace(Fraction(3), size, source),
    "laplace of digits": lambda size, source: sample_laplace(Fraction(100), size, source),
    "geometric": lambda size, source: sample_geometric(Fraction(3), size, source),
    "gaussian": lambda size, source: sample_gaussian(Fraction(3), size, source),
    "gaussian of blocks": lambda size, source: sample_gaussian(Fraction(10**6), size, source),
    "rounded gaussian": lambda size, source: sample_rounded_gaussian(Fraction(3), size, source),
    "rounded gaussian of blocks": lambda size, source: sample_rounded_gaussian(Fraction(10**6), size, source),
    "layered gaussian": lambda size, source: sample_layered_gaussian(Fraction(10**6), size, source),
    "bernoulli": lambda size, source: bernoulli(Fraction(1, 3), size, source),
    "uniform": lambda size, source: uniform_below(3, size, source),
}


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
@pytest.mark.parametrize(
    "size", [*NOT_INTEGER, -1, -3, -(2**70), 2**63, 10**400], ids=lambda value: str(value)[:12]
)
def test_sizes(sampler, size):
    refused("size", lambda source: sampler(size, source))


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_good_sizes(sampler):
    for size in (0, 1, 3, np.int64(3)):
        assert len(sampler(size, Counting())) == size


@pytest.mark.parametrize("scale", [1, 3, Fraction(1, 100), 2**40, Fraction(2**40)], ids=str)
def test_good_scales(scale):
    for sampler in (sample_laplace, sample_geometric):
        assert len(sampler(scale, 2, Counting())) == 2


@pytest.mark.parametrize("variance", [1, Fraction(1, 10**4), 2**80, Fraction(10**10, 3)], ids=str)
def test_good_variances(variance):
    for sampler in (sample_gaussian, sample_rounded_gaussian, sample_layered_gaussian):
        assert len(sampler(variance, 2, Counting())) == 2


@pytest.mark.parametrize(
    "grid", [*NOT_RATIONAL, *NOT_POSITIVE, 3, Fraction(1, 3), 2**901, 10**400], ids=lambda v: str(v)[:12]
)
def test_grids(grid):
    with pytest.raises(ParameterError) as caught:
        check_grid(grid)
    assert caught.value.parameter == "grid"


@pytest.mark.parametrize("seed", [1.5, NAN, "seed", None], ids=str)
def test_seeds(seed):
    with pytest.raises(ParameterError) as caught, replay(seed):
        pass
    assert caught.value.parameter == "seed"
