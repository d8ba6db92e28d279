from __future__ import annotations

import copy
import dataclasses
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW

ONE_OF_EACH = [
    PureDP(epsilon=0.1),
    ApproximateDP(epsilon=1, delta="1e-6"),
    ZeroConcentratedDP(rho=Decimal("0.5")),
    RenyiDP(order=8, epsilon="1/3"),
    GaussianDP(mu=2),
]


@pytest.mark.parametrize("guarantee", ONE_OF_EACH, ids=repr)
def test_guarantees_are_frozen_exact_values(guarantee):
    assert guarantee.neighbors == ADD_REMOVE_PERSON
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee == copy.deepcopy(guarantee)
    assert len({guarantee, copy.deepcopy(guarantee)}) == 1
    assert not hasattr(guarantee, "__dict__")
    for field in dataclasses.fields(guarantee):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(guarantee, field.name, Fraction(1))
        if field.name != "neighbors":
            assert type(getattr(guarantee, field.name)) is Fraction
    values = {field.name: getattr(guarantee, field.name) for field in dataclasses.fields(guarantee)}
    with pytest.raises(TypeError):
        type(guarantee)(*values.values())
    assert type(guarantee)(**{**values, "neighbors": REPLACE_ROW}) != guarantee


def test_reprs_read_like_the_call():
    assert [repr(guarantee) for guarantee in ONE_OF_EACH] == [
        "PureDP(epsilon=0.1)",
        "ApproximateDP(epsilon=1, delta=1e-6)",
        "ZeroConcentratedDP(rho=0.5)",
        "RenyiDP(order=8, epsilon=1/3)",
        "GaussianDP(mu=2)",
    ]
    assert repr(PureDP(epsilon=1, neighbors=REPLACE_ROW)) == "PureDP(epsilon=1, neighbors=REPLACE_ROW)"


@pytest.mark.parametrize("guarantee", ONE_OF_EACH, ids=repr)
def test_statements_are_one_sentence_that_names_the_change(guarantee):
    text = guarantee.statement
    assert text.startswith("Adding or removing one person ")
    assert text.endswith(".")
    assert text.count(". ") == 0
    grouped = guarantee.group(3).statement
    assert grouped.startswith("Adding or removing up to 3 persons ")


def test_a_statement_word_for_word():
    assert PureDP(epsilon=0.5).statement == (
        "Adding or removing one person multiplies the probability of any set of outcomes by at most e^0.5."
    )


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), True, None, "x", [1]])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda v: PureDP(epsilon=v), "epsilon"),
        (lambda v: ApproximateDP(epsilon=v, delta=0), "epsilon"),
        (lambda v: ApproximateDP(epsilon=1, delta=v), "delta"),
        (lambda v: ZeroConcentratedDP(rho=v), "rho"),
        (lambda v: RenyiDP(order=v, epsilon=1), "order"),
        (lambda v: RenyiDP(order=2, epsilon=v), "epsilon"),
        (lambda v: GaussianDP(mu=v), "mu"),
    ],
)
def test_bad_values_are_refused_by_name(make, name, bad):
    with pytest.raises(ParameterError, match=f"^{name} "):
        make(bad)


def test_ranges():
    for make in (
        lambda: ApproximateDP(epsilon=1, delta=1.5),
        lambda: RenyiDP(order=1, epsilon=1),
        lambda: PureDP(epsilon=1, neighbors="add-remove person"),
    ):
        with pytest.raises(ParameterError):
            make()
    assert PureDP(epsilon=0).epsilon == 0
    assert ApproximateDP(epsilon=0, delta=1).delta == 1


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None, "2"])
@pytest.mark.parametrize("guarantee", ONE_OF_EACH, ids=repr)
def test_group_sizes_are_checked(guarantee, size):
    with pytest.raises(ParameterError, match=r"^size "):
        guarantee.group(size)


@pytest.mark.parametrize("guarantee", ONE_OF_EACH, ids=repr)
def test_a_group_of_one_is_the_guarantee_itself(guarantee):
    assert guarantee.group(1) == guarantee
    assert guarantee.group(2).neighbors.size == 2


def test_groups_word_for_word():
    assert PureDP(epsilon=0.1).group(10).epsilon == 1
    assert ZeroConcentratedDP(rho=0.1).group(10).rho == 10
    assert GaussianDP(mu=0.1).group(10).mu == 1
    assert ApproximateDP(epsilon=0, delta=0.1).group(3).delta == Fraction(3, 10)
    assert RenyiDP(order=8, epsilon=1).group(4) == RenyiDP(
        order=2, epsilon=9, neighbors=ADD_REMOVE_PERSON.group(4)
    )


@given(st.sampled_from(ONE_OF_EACH[:3] + ONE_OF_EACH[4:]), st.integers(1, 8), st.integers(1, 8))
def test_groups_of_groups(guarantee, first, second):
    stepwise, at_once = guarantee.group(first).group(second), guarantee.group(first * second)
    assert stepwise.neighbors == at_once.neighbors
    if isinstance(guarantee, ApproximateDP):  # both rounded up, on different ways
        assert stepwise.epsilon == at_once.epsilon
        assert float(stepwise.delta) == pytest.approx(float(at_once.delta), rel=1e-14)
    else:
        assert stepwise == at_once
