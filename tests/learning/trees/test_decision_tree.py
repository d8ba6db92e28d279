"""A private tree: sensitivities by brute force, the law of the whole tree on small tables, and its event."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet.audit.divergence import compare_laws
from discreet.audit.enumeration import output_law
from discreet.errors import ParameterError
from discreet.learning import DecisionTree
from discreet.noise import is_private, replay
from discreet.privacy.events import Pure
from discreet.privacy.guarantees import PureDP

ROWS = list(product((0.0, 1.0), (0.0, 1.0), (0, 1)))  # two features and a label


def tree(**options):
    return DecisionTree(**{"cuts": [[0.5], [0.5]], "classes": 2, "depth": 1, "epsilon": 2, **options})


def split_of(data):
    table = np.array(data, float).reshape(-1, 3)
    return table[:, :2], table[:, 2].astype(np.int64)


def scores_of(data, made):
    sides, target = made._entered(*split_of(data))
    return made.scores(sides, target)


def plain_scores(data):
    """By counting, for each feature, what the majority of either side gets right."""
    found = []
    for feature in (0, 1):
        right = 0
        for side in (0.0, 1.0):
            labels = [row[2] for row in data if row[feature] == side]
            right += max(labels.count(0), labels.count(1))
        found.append(right)
    return found


def test_a_row_raises_each_score_by_at_most_one_and_lowers_none():
    made = tree()
    for size in range(4):
        for data in combinations_with_replacement(ROWS, size):
            before = scores_of(data, made)
            assert before.tolist() == plain_scores(data)
            moved = np.array([scores_of((*data, row), made) - before for row in ROWS])
            assert moved.min() >= 0
            assert moved.max() <= 1


def shown(made):
    """The splits and the classes of the leaves, as text."""

    def release(data):
        fit = made.release(*split_of(data))
        return str([(split.feature, split.cut) for split in fit.splits])

    return release


def quiet(made):
    """The same tree without noise on its leaves, which are not looked at."""
    copied = object.__new__(DecisionTree)
    for name in DecisionTree.__slots__:
        object.__setattr__(copied, name, getattr(made, name))
    object.__setattr__(copied, "noise", _NoNoise())
    return copied


def comparisons(made, changed, claim):
    """Whether the laws of all splits break a claim, for data with and without the rows of one person."""
    data = [(0.0, 0.0, 0), (1.0, 0.0, 1), (1.0, 1.0, 1)]
    here = output_law(shown(quiet(made)), data)
    for rows in changed:
        there = output_law(shown(quiet(made)), [*data, *rows])
        yield compare_laws(here, there, claim).violated
        yield compare_laws(there, here, claim).violated


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_law_of_all_splits_keeps_the_levels_promise(depth, rows):
    """Leaves aside, all trees on neighbors are within depth times the epsilon of a level."""
    made = tree(depth=depth, epsilon=2, share=Fraction(999999, 10**6), rows=rows)
    promise = PureDP(epsilon=depth * made.choice.guarantee.epsilon)
    less = PureDP(epsilon=promise.epsilon / 4)
    changed = list(combinations_with_replacement(ROWS, rows))[::3]
    assert not any(comparisons(made, changed, promise))
    assert any(comparisons(made, changed, less))


def test_rows_that_are_not_charged_break_the_promise():
    made = tree(depth=2, epsilon=2, share=Fraction(999999, 10**6))
    promise = PureDP(epsilon=2 * made.choice.guarantee.epsilon)
    assert any(comparisons(made, [[row] * 6 for row in ROWS], promise))


class _NoNoise:
    """Leaves without noise, whose counts are not looked at."""

    def release(self, counts):
        return np.zeros_like(counts)


def test_the_event_is_the_levels_and_the_leaves():
    made = tree(depth=3, epsilon=3, share=Fraction(2, 3), rows=4)
    assert made.event == Pure(epsilon=Fraction(2, 3)) * 3 + made.noise.event
    assert made.guarantee == PureDP(epsilon=3)
    assert made.choice.sensitivity == 4
    assert made.noise.event.sensitivity == 4
    assert made.noise.guarantee.epsilon == 1


def test_with_a_large_budget_it_is_the_greedy_tree():
    source = np.random.default_rng(3)
    design = source.random((500, 2)) * 10
    labels = ((design[:, 0] > 4) ^ (design[:, 1] > 7)).astype(np.int64)
    made = DecisionTree(cuts=[range(1, 10), range(1, 10)], classes=2, depth=2, epsilon=100)
    fit = made.release(design, labels)
    best = made.candidates[int(made.scores(*made._entered(design, labels)).argmax())]
    assert fit.splits[0] == best
    assert (fit.predict(design) == labels).mean() > 0.8


def test_values_of_any_size_are_data_and_nan_goes_right():
    made = tree(epsilon=100)
    design = [[float("nan"), 1e300], [float("inf"), -5], [0.0, 0.0], [0.2, 0.1]] * 50
    fit = made.release(design, [1, 10**30, 0, -4] * 50)
    assert fit.predict([[float("nan"), 9.0]]).tolist() == [1]
    assert fit.counts.sum() == pytest.approx(200, abs=1)
    assert made.release(np.zeros((0, 2)), np.zeros(0, np.int64)).splits[0] in made.candidates


@pytest.mark.parametrize(
    "wrong",
    [
        {"cuts": []},
        {"cuts": [[], []]},
        {"cuts": [[2, 1], [1]]},
        {"cuts": [[1, 1], [1]]},
        {"classes": 1},
        {"depth": 0},
        {"depth": 11},
        {"epsilon": 0},
        {"share": 1},
        {"rows": 0},
    ],
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ParameterError):
        tree(**wrong)


def test_tables_of_another_shape_are_refused():
    for design, labels in (
        ([[1.0]], [0]),
        ([[1.0, 2.0]], [0, 1]),
        ([[1.0, 2.0]], [0.5]),
        ([["a", "b"]], [0]),
    ):
        with pytest.raises(ParameterError):
            tree().release(design, labels)


def test_a_replayed_tree_is_known_as_one():
    with replay(1):
        fit = tree().release([[0.0, 1.0]], [1])
    assert not is_private(fit.counts)
    assert is_private(tree().release([[0.0, 1.0]], [1]).counts)
