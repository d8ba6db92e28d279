"""How scores enter: on the lattice, clamped, charged for rounding, and refused before anything is drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from discreet.errors import ParameterError
from discreet.mechanisms.selection.above_threshold import AboveThreshold
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.noisy_max import ReportNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.scores import LARGEST_SCORE, scores_for
from discreet.mechanisms.selection.top_k import TopK
from discreet.noise import Source, is_private, replay, using
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, ADD_REMOVE_ROW, REPLACE_PERSON
from discreet.privacy.sensitivity import disjoint_counts, overlapping_counts

BUILDERS = {
    "Exponential": Exponential,
    "PermuteAndFlip": PermuteAndFlip,
    "ReportNoisyMax": ReportNoisyMax,
    "TopK": lambda **parameters: TopK(k=2, **parameters),
    "AboveThreshold": lambda **parameters: AboveThreshold(threshold=0, **parameters),
}
every_selection = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())

SECRET = 987654321


class Silent(Source):
    """A source that must not be asked."""

    def words(self, size):
        raise AssertionError("something was drawn")


def entering(sensitivity, *, monotone=False, grid=None):
    return scores_for(
        sensitivity=sensitivity, stretch=Fraction(2), monotone=monotone, grid=grid, neighbors=None
    )


positive = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=1000)


@given(
    sensitivity=positive,
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    moves=st.lists(st.floats(-1, 1), min_size=5, max_size=5),
    grid=st.sampled_from([None, 1, Fraction(1, 4), 64]),
)
def test_no_real_score_moves_farther_than_its_charged_shift(sensitivity, values, moves, grid):
    scores = entering(sensitivity, grid=grid)
    moved = [value + move * float(sensitivity) for value, move in zip(values, moves, strict=False)]
    apart = np.abs(scores.enter(values) - scores.enter(moved))
    for start, end, steps in zip(values, moved, apart, strict=True):
        if abs(Fraction(start) - Fraction(end)) <= sensitivity:
            assert steps <= scores.shift


@given(
    values=st.lists(st.integers(-(10**25), 10**25), min_size=1, max_size=5),
    moves=st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_clamping_keeps_shift_and_direction(values, moves):
    scores = entering(3, monotone=True)
    moved = [value + move for value, move in zip(values, moves, strict=False)]
    gained = scores.enter(moved) - scores.enter(values)
    assert (gained >= 0).all()
    assert (gained <= scores.shift).all()


@given(
    values=st.lists(st.floats(-1e20, 1e20), min_size=1, max_size=5),
    moves=st.lists(st.floats(0, 1e3), min_size=5, max_size=5),
)
def test_rounding_keeps_the_direction(values, moves):
    scores = entering(0.3, monotone=True)
    moved = [value + move for value, move in zip(values, moves, strict=False)]
    assert (scores.enter(moved) >= scores.enter(values)).all()


def test_the_charge_is_the_number_of_steps_rounded_up():
    assert entering(3).shift == 3
    assert entering(Fraction(1, 3), grid=Fraction(1, 4)).shift == 2
    assert entering(Fraction(1, 4), grid=Fraction(1, 4)).shift == 1
    assert entering(1, grid=64).shift == 1
    assert entering(0.1).shift * entering(0.1).lattice.step <= Fraction(1001, 10_000)


def test_the_swing_is_twice_the_shift_unless_scores_move_together():
    assert entering(3).swing == 6
    assert entering(3, monotone=True).swing == 3


def test_differences_of_extreme_scores_fit_in_64_bits():
    scores = entering(1)
    for extreme in (
        [10**30, -(10**30)],
        [2**63, -1],
        np.array([2**63 - 1, -(2**63)]),
    ):
        steps = scores.enter(extreme)
        assert steps.max() - steps.min() <= 2 * LARGEST_SCORE
    assert scores.enter(np.array([2**64 - 1], np.uint64)) == LARGEST_SCORE
    assert np.abs(entering(1.0).enter([1e300, -1e300])).max() == 2**52


@every_selection
def test_a_sensitivity_brings_its_largest_change_and_relation(build):
    mechanism = build(sensitivity=overlapping_counts(7, neighbors=ADD_REMOVE_ROW), epsilon=1)
    assert mechanism.sensitivity == 1
    assert mechanism.guarantee.neighbors == ADD_REMOVE_ROW
    assert mechanism.event.neighbors == ADD_REMOVE_ROW
    with pytest.raises(ParameterError, match="neighbors"):
        build(sensitivity=disjoint_counts(7), epsilon=1, neighbors=ADD_REMOVE_ROW)


@every_selection
def test_monotone_scores_are_refused_where_units_are_replaced(build):
    with pytest.raises(ParameterError, match="monotone"):
        build(sensitivity=1, epsilon=1, monotone=True, neighbors=REPLACE_PERSON)
    assert build(sensitivity=1, epsilon=1, neighbors=REPLACE_PERSON).neighbors == REPLACE_PERSON


@every_selection
@given(sensitivity=st.integers(1, 20), epsilon=positive, monotone=st.booleans())
def test_epsilon_is_exact_for_integers(build, sensitivity, epsilon, monotone):
    mechanism = build(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone)
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.event.pure_epsilon == epsilon
    assert Fraction(mechanism.epsilon) >= epsilon


@every_selection
@given(sensitivity=positive, epsilon=positive, monotone=st.booleans())
def test_epsilon_is_exact_for_reals_after_rounding_is_charged(build, sensitivity, epsilon, monotone):
    mechanism = build(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone)
    assert mechanism.guarantee.epsilon == epsilon
    assert sensitivity <= mechanism.sensitivity <= sensitivity * Fraction(1001, 1000)


@every_selection
def test_mechanisms_are_values(build):
    assert build(sensitivity=1, epsilon=0.5) == build(sensitivity=1, epsilon="1/2")
    assert len({build(sensitivity=1, epsilon=0.5), build(sensitivity=1, epsilon="1/2")}) == 1
    assert build(sensitivity=1, epsilon=0.5) != build(sensitivity=1, epsilon=0.5, monotone=True)
    assert "epsilon=0.5" in repr(build(sensitivity=1, epsilon=0.5))
    with pytest.raises(AttributeError):
        build(sensitivity=1, epsilon=0.5).scores = None


@every_selection
def test_neighboring_inputs_are_neighbors(build):
    for sensitivity in (2, 0.25):
        for monotone in (False, True):
            mechanism = build(sensitivity=sensitivity, epsilon=1, monotone=monotone)
            pairs = mechanism.neighboring_inputs()
            assert pairs
            for first, second in pairs:
                change = mechanism.scores.enter(second) - mechanism.scores.enter(first)
                assert np.abs(change).max() == mechanism.scores.shift
                if monotone:
                    assert (change >= 0).all() or (change <= 0).all()
                mechanism.release(first)


@every_selection
def test_extreme_parameters_give_answers_or_refusals(build):
    for sensitivity in (1, 10**30, 1e-300, 1e300, Fraction(1, 3)):
        for epsilon in (1e-300, 1e-9, 1e9, 1e300, "1e-1000"):
            try:
                mechanism = build(sensitivity=sensitivity, epsilon=epsilon)
            except ParameterError as refusal:
                assert refusal.parameter in {"epsilon", "sensitivity"}  # noqa: PT017
                continue
            for first, second in mechanism.neighboring_inputs():
                mechanism.release(first)
                mechanism.release(second)


@every_selection
def test_replayed_choices_are_marked(build):
    mechanism = build(sensitivity=1, epsilon=1)
    with replay(7):
        first = mechanism.release([5, 6, 7])
    with replay(7):
        assert np.array_equal(mechanism.release([5, 6, 7]), first)
    assert not is_private(first)
    assert is_private(mechanism.release([5, 6, 7]))


@every_selection
@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "x", [1], object()])
@pytest.mark.parametrize("name", ["sensitivity", "epsilon", "grid"])
def test_bad_parameters_are_refused_by_name(build, name, bad):
    if name == "grid" and bad is None:
        return
    with pytest.raises(ParameterError) as refusal:
        build(**{"sensitivity": 1.0, "epsilon": 1, name: bad})
    assert refusal.value.parameter == name
    assert refusal.value.allowed


@every_selection
def test_bad_words_are_refused_by_name(build):
    for name, bad in (("monotone", 1), ("monotone", "yes"), ("neighbors", "add"), ("grid", 0.3)):
        with pytest.raises(ParameterError, match=name):
            build(**{"sensitivity": 1.0, "epsilon": 1, name: bad})


refused_everywhere = st.one_of(
    st.sampled_from(
        [
            [],
            (),
            np.zeros(0),
            np.zeros((0, 3)),
            None,
            str(SECRET),
            [str(SECRET)],
            SECRET,
            np.array(SECRET),
            float("nan"),
            {SECRET: 1},
            {SECRET},
            object(),
            [None, SECRET],
            [[SECRET], [1, 2]],
            [SECRET + 1j],
            np.array([SECRET], object),
            np.array([SECRET], np.longdouble),
            np.array([True, False]),
            np.array(["2020-01-01"], "datetime64[D]"),
        ]
    ),
    arrays.arrays(np.int64, arrays.array_shapes(min_dims=2, max_dims=3)),
    arrays.arrays(np.float64, arrays.array_shapes(min_dims=2, max_dims=3)),
)
broken = st.lists(st.sampled_from([float("nan"), float("inf"), -float("inf"), 1.5]), min_size=1).filter(
    lambda scores: not np.isfinite(scores).all()
)


@every_selection
@given(scores=refused_everywhere | broken, integers=st.booleans())
def test_bad_scores_are_refused_before_anything_is_drawn_and_never_quoted(build, scores, integers):
    mechanism = build(sensitivity=1 if integers else 1.0, epsilon=1)
    with using(Silent()), pytest.raises(ParameterError) as refusal:
        mechanism.release(scores)
    assert refusal.value.parameter in {"scores", "values"}
    for text in (str(refusal.value), repr(refusal.value)):
        assert str(SECRET) not in text
        assert "2020" not in text
    assert refusal.value.__cause__ is None


@every_selection
def test_floats_are_refused_where_integers_were_announced(build):
    with using(Silent()), pytest.raises(ParameterError, match=r"sensitivity=1\.0"):
        build(sensitivity=1, epsilon=1).release([1.0, 2.0])
    build(sensitivity=1.0, epsilon=1).release([1, 2])


def test_monotone_needs_a_single_unit():
    """In a group of two, one may leave as the other comes."""
    with pytest.raises(ParameterError, match="monotone"):
        Exponential(sensitivity=1, epsilon=1, monotone=True, neighbors=ADD_REMOVE_PERSON.group(2))
