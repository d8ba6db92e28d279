"""What is recorded is repeated with other rows, under another key, and gives what a loop gives.

Recording itself needs an accelerator; in its place stands what runs the same work again. `python -m
benchmarks.device` compares recorded steps with single ones on a device.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest
import torch

from discreet.learning.deep.accelerator import recorded_steps
from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.accelerator.integer_sum import IntegerSum
from discreet.learning.deep.accelerator.recorded_steps import RecordedSteps
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.uses import OuterUse, RowsUse
from discreet.noise import replay

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def overwrite(old, new):
    """Write numbers over those in the same places of the same structure."""
    if isinstance(old, torch.Tensor):
        old.copy_(new)
    elif is_dataclass(old):
        for field in fields(old):
            overwrite(getattr(old, field.name), getattr(new, field.name))
    elif isinstance(old, list | tuple):
        for one, other in zip(old, new, strict=True):
            overwrite(one, other)


class RunAgain:
    """Runs the work again, with what it reads and what it returns always in the same places."""

    made = 0

    def __init__(self, work, rows, weights):
        type(self).made += 1
        self._work, self._rows, self._weights = work, [row.clone() for row in rows], weights.clone()
        self._result = None

    def repeat(self, rows, weights):
        for held, row in zip(self._rows, rows, strict=True):
            held.copy_(row)
        self._weights.copy_(weights)
        found = self._work(self._rows, self._weights)
        if self._result is None:
            self._result = found
        else:
            overwrite(self._result, found)
        return self._result


@pytest.fixture(autouse=True)
def _run_again(monkeypatch):
    RunAgain.made = 0
    monkeypatch.setattr(recorded_steps, "CapturedBatch", RunAgain)


def sum_of():
    parameters = [torch.zeros(3, 4, device=DEVICE), torch.zeros(3, device=DEVICE)]
    plan = DevicePlan(
        batch=20, population=1000, steps=50, epsilon=1, delta=1e-5, size=15, clipping=FlatClipping(0.7)
    )
    return IntegerSum(parameters, [[0, 1]], plan, DeviceNoise(DEVICE))


def uses_of(rows, keep):
    slopes, inputs = rows
    made = {"weight": OuterUse(slopes[:, None], inputs[:, None]), "bias": RowsUse(slopes)}
    return [[one] for one in keep(made).values()]


def batches(count):
    generator = torch.Generator().manual_seed(4)
    return [
        [torch.randn(2, size, generator=generator).to(DEVICE) for size in (3, 4)] for _ in range(count)
    ], torch.tensor([1.0, 0.5], dtype=torch.float64, device=DEVICE)


def test_steps_of_one_batch_are_those_of_a_loop():
    given, weights = batches(3)
    total, recorded = sum_of(), RecordedSteps(uses_of, 0.7)
    with replay(5):
        expected = []
        for rows in given:
            total.add(uses_of(rows, total.keep), weights, 0.7)
            expected.append(total.release(0.7)[0])
    with replay(5):
        for rows, means in zip(given, expected, strict=True):
            counted, found, is_private = recorded.release(total, rows, weights, [1, 2])
            assert counted.all()
            assert not is_private
            assert all(torch.equal(one, other) for one, other in zip(found, means, strict=True))
            assert not total._noise._key.any()  # forgotten with the step
    assert RunAgain.made == 1


def test_steps_of_several_batches_add_all_of_them():
    given, weights = batches(4)
    total, recorded = sum_of(), RecordedSteps(uses_of, 0.7)
    for rows in given:
        total.add(uses_of(rows, total.keep), weights, 0.7)
    total.settle()
    expected = total._total.clone()
    total.cleared()
    for rows in given:
        assert recorded.add(total, rows, weights, [1, 2]).all()
    total.settle()
    assert torch.equal(total._total, expected)
    assert RunAgain.made == 1


def test_noise_is_private_and_new_for_every_step():
    given, weights = batches(1)
    total, recorded = sum_of(), RecordedSteps(uses_of, 0.7)
    _, first, is_private = recorded.release(total, given[0], weights, [])
    before = first[0].clone()
    _, second, _ = recorded.release(total, given[0], weights, [])
    assert is_private
    assert not torch.equal(before, second[0])


def test_what_has_moved_in_memory_is_recorded_anew():
    given, weights = batches(1)
    seen = []
    total, recorded = sum_of(), RecordedSteps(uses_of, 0.7, lambda: seen.append(RunAgain.made))
    for places in ([1], [1], [2], [2]):
        recorded.release(total, given[0], weights, places)
    assert RunAgain.made == 2
    assert seen == [0, 1]  # what comes before was called before each of them
    recorded.add(total, given[0], weights, [2])  # of another kind
    assert RunAgain.made == 3
    recorded.clear()
    recorded.add(total.cleared(), given[0], weights, [2])
    assert RunAgain.made == 4
