"""What classifiers share: declared classes, and labels that are read one by one."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.learning import GaussianNB
from discreet.learning.estimators.private_classifier import SEEN, labels_of


def test_labels_of_a_list_are_read_one_by_one():
    assert labels_of([1, "a", None], seen=False).tolist() == [1, "a", None]
    assert labels_of([1, 2], seen=True).tolist() == [1, 2]


def test_classes_are_declared_or_said_to_be_public():
    target, labels = GaussianNB(classes=["b", "a"])._read_target(["a", "z"])
    assert (target.labels, labels.tolist()) == (("a", "b"), ["a", "z"])
    assert GaussianNB(classes=SEEN)._read_target(np.array([3, 1, 3]))[0].labels == (1, 3)
    for classes, words in ((None, "not declared"), ("ab", "is text")):
        with pytest.raises(ParameterError, match=words):
            GaussianNB(classes=classes)._read_target([1])


def test_a_column_of_a_table_is_a_target_if_it_has_keys():
    target, stated = GaussianNB()._declared_target("ill", dp.Keys(["yes", "no"]))
    assert (target.name, stated) == ("ill", {"classes": ["no", "yes"]})
    with pytest.raises(ParameterError, match="not one of several"):
        GaussianNB()._declared_target("age", dp.Bounds(0, 100))
