from __future__ import annotations

import copy
import random

import numpy as np
import pytest

from audit.mutants import ModuleSeed, OwnGenerator
from audit.right import GridLaplace, IntegerLaplace, RandomizedResponse
from discreet.audit.clones import check_clones
from discreet.noise import Source, replay, using
from discreet.noise.entropy import System


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", [IntegerLaplace(), GridLaplace(), RandomizedResponse()])
def test_mechanisms_that_hold_no_randomness_pass(mechanism):
    finding = check_clones(mechanism, mechanism.neighboring_inputs()[0][0])
    assert finding.verdict == "passed"
    assert "copy, deepcopy, pickle, fork" in finding.detail
    assert 0 < finding.false_alarm < 1e-9


def test_a_generator_inside_is_repeated_by_deep_copies():
    finding = check_clones(OwnGenerator(), 0)
    assert finding.verdict == "failed"
    assert "deepcopy, pickle, fork" in finding.detail


def test_a_generator_of_the_module_is_repeated_by_forks():
    finding = check_clones(ModuleSeed(), 0)
    assert finding.verdict == "failed"
    assert finding.detail.endswith("by fork")


def test_a_replayed_source_is_repeated_by_forks():
    with replay(3):
        finding = check_clones(IntegerLaplace(), 0)
    assert finding.verdict == "failed"
    assert "fork" in finding.detail


class CopyableSource(Source):
    """Forgets that a source must not be copied."""

    def __init__(self):
        self._generator = np.random.default_rng()

    def words(self, size):
        return self._generator.integers(0, 2**64, size, dtype=np.uint64)

    def __copy__(self):
        return self.__deepcopy__({})

    def __deepcopy__(self, memo):
        clone = CopyableSource()
        clone._generator = copy.deepcopy(self._generator)
        return clone


def test_a_source_that_can_be_copied_is_repeated():
    with using(CopyableSource()):
        finding = check_clones(IntegerLaplace(), 0)
    assert finding.verdict == "failed"
    assert "copy of its source, deepcopy of its source, fork" in finding.detail


@pytest.mark.statistical
def test_a_system_source_is_safe_however_it_is_installed():
    with using(System()):
        assert check_clones(IntegerLaplace(), 0).verdict == "passed"


class Unpicklable(IntegerLaplace):
    def __reduce__(self):
        raise TypeError("no")


@pytest.mark.statistical
def test_a_mechanism_may_refuse_to_be_copied():
    finding = check_clones(Unpicklable(), 0)
    assert finding.verdict == "passed"
    assert "refuses copy, deepcopy, pickle" in finding.detail


class SlowCycle:
    """Gives the same few outputs in turn."""

    def __init__(self, period):
        self.turn, self.period = 0, period

    def release(self, value):
        self.turn += 1
        return random.Random(self.turn % self.period).random()


@pytest.mark.parametrize("period", [3, 4, 5, 7])
def test_a_short_cycle_is_the_mechanism_repeating_itself(period):
    """Also where two sequences of the same length begin at different places of the cycle."""
    finding = check_clones(SlowCycle(period), 0, prototype=True)
    assert finding.verdict == "failed"
    assert "the mechanism itself" in finding.detail


def test_constants_are_not_judged():
    class Constant:
        def release(self, value):
            return 1

    assert check_clones(Constant(), 0).verdict == "skipped"


def test_without_fork_the_rest_is_still_checked(monkeypatch):
    monkeypatch.delattr("os.fork")
    finding = check_clones(IntegerLaplace(), 0)
    assert finding.verdict == "passed"
    assert "fork" not in finding.detail
