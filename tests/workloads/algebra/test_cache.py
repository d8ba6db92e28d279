"""Results are kept by value, a few of them, and what has no hash is computed again."""

from __future__ import annotations

from discreet.workloads import AllRanges, Prefixes
from discreet.workloads.algebra.cache import remembered


def test_equal_workloads_share_a_result_and_others_do_not():
    calls = []

    @remembered(2)
    def size(workload, factor=1):
        calls.append(workload)
        return factor * workload.size

    assert [size(AllRanges(3)), size(AllRanges(3)), size(AllRanges(3), factor=2)] == [3, 3, 6]
    assert len(calls) == 2
    assert size(Prefixes(3)) == 3  # another family over the same domain; the oldest result is dropped
    assert size(AllRanges(3)) == 3
    assert len(calls) == 4


def test_arguments_without_a_hash_are_no_problem():
    calls = []

    @remembered(2)
    def length(values):
        calls.append(1)
        return len(values)

    assert [length([1, 2]), length([1, 2])] == [2, 2]
    assert len(calls) == 2
