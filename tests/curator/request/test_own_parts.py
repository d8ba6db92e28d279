"""Nothing that a user wrote is taken for a part of the library, however deep it is."""

from __future__ import annotations

import datetime
import functools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from discreet.curator.request.own_parts import is_own
from discreet.data import Bounds, Keys
from discreet.learning.teachers.ensemble import Ensemble
from discreet.mechanisms import Laplace
from discreet.synthesis import Independent, SpanningTree
from discreet.synthesis.asking.table_synthesis import TableSynthesis


def made(kind=SpanningTree, **columns):
    held = columns or {"a": Keys(["x", "y"]), "b": Bounds(0, 3)}
    return TableSynthesis(synthesizer=kind(columns=held, rho=1))


class Evil(SpanningTree):
    """Planted: a synthesizer that keeps what it sees."""


def held_in(part):
    """Return a mechanism of the library that holds something in place of its facts."""
    whole = made()
    object.__setattr__(whole.synthesizer, "facts", part)
    return whole


def test_what_the_library_makes_is_its_own():
    assert is_own(made())
    assert is_own(made(Independent))
    assert is_own(Laplace(sensitivity=1, epsilon=1))
    model = make_pipeline(StandardScaler(), LogisticRegression())
    assert is_own(Ensemble(model=model, teachers=3, classes=2))


def test_a_value_of_another_library_is_not_of_this_one():
    for other in (LogisticRegression(), 1, "text", None, [made()], np.zeros(2), object()):
        assert not is_own(other)


def test_subclasses_are_refused_alone_and_as_a_part():
    assert not is_own(Evil(columns={"a": Keys(["x", "y"])}, rho=1))
    assert not is_own(made(Evil))


@pytest.mark.parametrize("name", ["Evil", "SpanningTree"])
def test_a_type_that_says_it_is_of_the_library_is_looked_up(name):
    forged = type(name, (SpanningTree,), {"__module__": SpanningTree.__module__, "__slots__": ()})
    assert forged.__module__.startswith("discreet.")
    assert not is_own(made(forged))


def _seen(rows):
    return rows


@pytest.mark.parametrize(
    "part",
    [
        _seen,
        lambda rows: rows,
        functools.partial(print),
        np.vectorize(_seen),
        "x".join,
        Evil,
        type("Number", (int,), {})(3),
        type("Array", (np.ndarray,), {})(2),
        type("ndarray", (np.ndarray,), {"__module__": "numpy"})(2),
        np.array([object()], dtype=object),
        object(),
        iter([1]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_code_is_found_wherever_it_is(part):
    for wrapped in (part, (1, part), [[part]], {"name": part}, {(0, (part,)): 1} if _hashes(part) else part):
        assert not is_own(held_in(wrapped))
    plain = (
        1,
        np.float64(2),
        np.str_("x"),
        np.zeros(2),
        np.dtype("<f4"),
        datetime.date(2020, 1, 1),
        [Fraction(1, 2)],
        {"name": np.array(["x", None], dtype=object)},
        frozenset({2.0}),
    )
    assert is_own(held_in(plain))


def _hashes(part):
    try:
        hash(part)
    except TypeError:
        return False
    return True


def test_teachers_are_models_of_scikit_learn_alone():
    class Kept(LogisticRegression):
        """Planted: a model that keeps what it is fitted to."""

    called = make_pipeline(FunctionTransformer(_seen), LogisticRegression())
    for model in (Kept(), make_pipeline(Kept()), called):
        assert not is_own(Ensemble(model=model, teachers=3, classes=2))


def test_what_holds_itself_is_looked_through_once():
    round_about: list[object] = [1]
    round_about.append(round_about)
    assert is_own(held_in(round_about))
    round_about.append(object())
    assert not is_own(held_in(round_about))
