from __future__ import annotations

import math

import numpy as np

from discreet.audit.outputs import observe, output_key, private_copy
from discreet.noise.replayed import mark_replayed


def test_what_an_observer_can_tell_apart_has_different_keys():
    outputs = [
        1, 1.0, 0.0, -0.0, math.nan, "1", None, b"1", (1,), [1], np.array([1]), np.array([1.0]),
        np.array([[1]]), ValueError("x"), KeyError("x"), (1.0,), {"a": 1}, {"a": 2},
    ]  # fmt: skip
    assert len({output_key(output) for output in outputs}) == len(outputs)


def test_what_an_observer_cannot_tell_apart_has_one_key():
    assert output_key(np.int32(3)) == output_key(3) == 3
    assert output_key(np.float64(0.5)) == output_key(0.5)
    assert output_key(True) == output_key(np.True_)


def test_marks_are_left_out():
    for output in (3, 0.5, np.array([1, 2]), (1, 2.0), [True, False]):
        assert output_key(mark_replayed(output)) == output_key(output)


def test_an_exception_is_an_output():
    def release(value):
        raise ZeroDivisionError("division by zero")

    assert output_key(observe(release, 1)) == ("raised", "ZeroDivisionError", "division by zero")


def test_inputs_are_copied():
    array, items = np.array([1, 2]), [1, 2]
    for value in (array, items):
        copied = private_copy(value)
        copied[0] = 9
    assert array[0] == items[0] == 1


def test_what_lies_behind_a_view_is_part_of_the_output():
    whole = np.array([1, 2, 3])
    assert output_key(whole[:1]) != output_key(np.array([9, 1])[1:])
    assert output_key(whole[:1]) != output_key(np.array([1]))
    assert output_key(np.array([1])) == output_key(np.array([1]).view())


def test_widths_and_messages_are_part_of_the_output():
    assert output_key(np.array([1], np.int32)) != output_key(np.array([1], np.int64))
    assert output_key(ValueError("a")) != output_key(ValueError("b"))
