from __future__ import annotations

import pickle

import numpy as np
import pytest

from discreet.noise.replayed import (
    ReplayedArray,
    ReplayedFloat,
    ReplayedInt,
    is_private,
    mark_replayed,
)

SCALARS = [
    7,
    -3,
    0,
    True,
    False,
    np.int64(5),
    np.uint8(5),
    np.bool_(True),
    2.5,
    -0.0,
    np.float64(1.5),
    np.float32(2),
]
ARRAYS = [np.arange(4), np.linspace(0, 1, 3), np.zeros((2, 2), bool), np.array(3), np.array([])]


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_numbers_keep_their_value_and_carry_the_mark(value):
    marked = mark_replayed(value)
    assert marked == value
    assert not is_private(marked)
    assert isinstance(marked, ReplayedFloat if isinstance(value, float | np.floating) else ReplayedInt)
    assert "not private" in repr(marked)
    assert hash(marked) == hash(value)


@pytest.mark.parametrize("value", ARRAYS, ids=lambda value: f"{value.dtype}{value.shape}")
def test_arrays_keep_their_values_and_carry_the_mark(value):
    marked = mark_replayed(value)
    assert isinstance(marked, ReplayedArray)
    assert marked.dtype == value.dtype
    assert marked.shape == value.shape
    assert (np.asarray(marked) == value).all()
    assert not is_private(marked)
    assert "not private" in repr(marked)


def test_the_mark_survives_slices_arithmetic_and_pickling():
    marked = mark_replayed(np.arange(4))
    for derived in (
        marked[1:],
        marked + 1,
        2 * marked,
        marked.reshape(2, 2),
        pickle.loads(pickle.dumps(marked)),
    ):
        assert not is_private(derived)
    for value in (mark_replayed(3), mark_replayed(2.5)):
        assert not is_private(pickle.loads(pickle.dumps(value)))


def test_an_entry_of_a_marked_array_is_marked():
    marked = mark_replayed(np.arange(4))
    assert not is_private(marked[0])
    assert not is_private(list(marked))


@pytest.mark.parametrize("kind", [tuple, list])
def test_containers_are_marked_item_by_item(kind):
    marked = mark_replayed(kind([1, 2.5, kind([np.arange(2), True])]))
    assert isinstance(marked, kind)
    assert not any(is_private(item) for item in marked)
    assert not is_private(marked)
    assert not is_private(kind([1, mark_replayed(2)]))
    assert is_private(kind([1, 2]))


def test_no_answer_carries_no_mark():
    assert mark_replayed(None) is None


@pytest.mark.parametrize("value", ["category", {"a": 1}, {1, 2}, 1j], ids=repr)
def test_what_cannot_be_marked_does_not_pass_for_private(value):
    """Fail closed: a kind of result that cannot carry the mark is refused, not passed on."""
    with pytest.raises(TypeError):
        mark_replayed(value)


@pytest.mark.parametrize("value", [1, 2.5, True, None, "a", np.arange(2), (1, 2), []], ids=repr)
def test_unmarked_results_are_private(value):
    assert is_private(value)
