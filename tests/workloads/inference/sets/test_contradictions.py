"""Contradictions: found by a linear program, and only those to blame are named."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads.inference.sets.contradictions import check_compatible
from discreet.workloads.inference.sets.equalities import Equalities
from discreet.workloads.inference.sets.isotonic import Ordered
from discreet.workloads.inference.sets.simplex import KnownTotal, NonNegative
from workloads.inference.convex_oracle import SETS


@pytest.mark.parametrize("name", SETS)
def test_sets_with_a_common_point_pass(name):
    random = np.random.default_rng(1)
    for size in (2, 7):
        check_compatible(SETS[name](random, size).sets, size)


def test_only_the_sets_to_blame_are_named():
    total = KnownTotal(-3)
    harmless = Equalities([[0.0, 0.0, 1.0, 0.0]], [2.0])
    with pytest.raises(ParameterError, match="total") as refused:
        check_compatible([Ordered(), total, harmless, NonNegative()], 4)
    assert refused.value.problem == (
        "contradict each other: entries add up to the total; entries are non-negative"
    )


def test_three_sets_that_only_contradict_together():
    rising, equal = Ordered(), Equalities([[1.0, 0.0], [0.0, 0.0]], [3.0, 0.0])
    for pair in ([rising, equal], [rising, KnownTotal(4)], [equal, KnownTotal(4)]):
        check_compatible(pair, 2)
    with pytest.raises(ParameterError, match="never fall; linear equalities; entries add up"):
        check_compatible([rising, equal, KnownTotal(4)], 2)


def test_nothing_to_check():
    check_compatible([], 3)
    check_compatible([NonNegative(), Ordered()], 0)
