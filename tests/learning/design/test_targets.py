"""Targets: declared classes, in order, and labels that are read one by one."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning.design.targets import Classes


def test_classes_are_sorted_and_numbered():
    found = Classes.of("y", ["well", "ill", "ill"])
    assert found.labels == ("ill", "well")
    assert found.array.tolist() == ["ill", "well"]
    odd = np.array(["well", "ill", "dead", None, 0, [], 1j], dtype=object)
    assert found.numbers(odd).tolist() == [1, 0, -1, -1, -1, -1, -1]


def test_numbers_of_any_type_are_the_same_classes():
    found = Classes.of("y", [0, 1])
    for values in (np.array([1, 0], np.int8), np.array([1.0, 0.0]), np.array([True, False])):
        assert found.numbers(values).tolist() == [1, 0]
    assert found.numbers(np.array([0.5, np.nan, np.inf])).tolist() == [-1, -1, -1]


EDGES = [0, 1, -1, 2, 2**53, 2**53 + 1, 2**63 - 1, 0.1, 0.5, -0.0, np.nan, np.inf, "0", "a", "a\0", "ä", ""]


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 2**53], [0.0, 0.5, 0.1], [False, True], ["", "a"], ["0", "ä"], [0, 0.5]]
)
@pytest.mark.parametrize(
    "kind", [np.int64, np.int8, np.uint64, bool, np.float64, np.float32, np.float16, str]
)
def test_labels_of_arrays_are_those_of_python(labels, kind):
    """Equal as Python says: no label of an array is another one than that of a list would be."""
    with np.errstate(all="ignore"):
        values = np.array([one for one in EDGES if isinstance(one, str) == (kind is str)]).astype(kind)
    found = Classes.of("y", labels)
    assert found.numbers(values).tolist() == found.numbers(values.astype(object)).tolist()


@pytest.mark.parametrize("wrong", [["a"], [], ["a", None], ["a", 1j, None], [0, 2**53 + 1]])
def test_what_is_not_classes_is_refused(wrong):
    with pytest.raises(ParameterError, match="classes"):
        Classes.of("y", wrong)


def test_parameters_tell_types_apart():
    told = [Classes.of("y", one).parameters for one in ([0, 1], ["0", "1"], [0.0, 1.0], [False, True])]
    assert len({str(one) for one in told}) == 4
    days = Classes.of("y", [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)])
    assert days.parameters["classes"][0] == ["date", "2026-01-01"]
