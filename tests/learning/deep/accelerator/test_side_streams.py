"""Outside of a recording, parts are done one after another; in one, the program waits for them."""

from __future__ import annotations

import weakref
from functools import partial

import pytest
import torch

from discreet.learning.deep.accelerator import integer_sum as integer_sum_module
from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.accelerator.integer_rows import _SingleForm
from discreet.learning.deep.accelerator.integer_sum import IntegerSum
from discreet.learning.deep.accelerator.side_streams import SideStreams
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.uses import OuterUse


def test_parts_are_done_in_order():
    done = []
    with SideStreams(3) as streams:
        for place in range(5):
            assert streams.start(lambda place=place: done.append(place) or place) == place
            assert done == list(range(place + 1))
    assert not streams._open


@pytest.mark.skipif(not torch.cuda.is_available(), reason="programs are recorded on an accelerator")
@pytest.mark.parametrize("most_open", [None, 1])
def test_a_recorded_program_has_the_results_of_its_parts(most_open):
    given = torch.arange(1 << 20, device="cuda")  # sums of integers do not depend on their order

    def work():
        total = torch.zeros_like(given)
        with SideStreams(2, most_open) as streams:
            for _ in range(6):
                total = total + 1
                found = streams.start(lambda total=total: [total.cumsum(0).cumsum(0)])
                streams.wait()
                total = total + found[0]
            parts = [streams.start(lambda k=k: (given * k).cumsum(0)) for k in range(7)]
            parts.append(streams.start_urgent(lambda: given.cumsum(0)))
        return total + torch.stack(parts).sum(0)

    expected = work()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    for _ in range(3):
        graph.replay()
        assert torch.equal(found, expected)


class Clocks:
    """Streams and events that know what comes before what: each has the set of works that are before it."""

    def __init__(self):
        self.current = self.stream()

    def stream(self, priority=0):
        outer = self

        class Stream:
            def __init__(self):
                self.before = frozenset()

            def wait_stream(self, other):
                self.before |= other.before

            def wait_event(self, event):
                self.before |= event

            def record_event(self):
                return self.before

            def __enter__(self):
                self.outer, outer.current = outer.current, self

            def __exit__(self, *_):
                outer.current = self.outer

        return Stream()

    def work(self, name):
        """Do a work on the stream that is current, and return what is before it."""
        before = self.current.before
        self.current.before |= {name}
        return before


@pytest.fixture
def clocks(monkeypatch):
    made = Clocks()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch.cuda, "Stream", made.stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: made.current)
    return made


def test_a_recorded_part_is_after_what_was_before_it_and_before_what_waits(clocks):
    with SideStreams(2) as streams:
        clocks.work("first")
        assert "first" in streams.start(lambda: clocks.work("part"))
        assert "part" not in clocks.work("beside")
        assert "beside" in streams.start(lambda: clocks.work("other"))
        assert "urgent" not in streams.start_urgent(lambda: clocks.work("urgent"))
        assert "urgent" not in streams.start(lambda: clocks.work("third"))
        streams.wait()
        assert {"part", "other", "urgent", "third"} <= clocks.work("after")
        streams.start(lambda: clocks.work("last"))
    assert "last" in clocks.work("end")


def test_what_parts_read_and_return_is_held_until_they_are_waited_for(clocks):
    class Memory:
        pass

    def part(read):
        clocks.work("part")
        return Memory() if read else None

    streams, read = SideStreams(1, most_open=1), Memory()
    given = weakref.ref(read)
    returned = weakref.ref(streams.start(partial(part, read)))
    del read
    assert given() is not None
    assert returned() is not None
    streams.start(partial(part, None))  # which waits for the one before
    assert "part" in clocks.work("after")
    assert given() is None
    assert returned() is None


def integer_sum():
    plan = DevicePlan(
        batch=20, population=1000, steps=50, epsilon=1, delta=1e-5, size=12, clipping=FlatClipping(0.7)
    )
    return IntegerSum([torch.zeros(3, 4)], [[0]], plan, DeviceNoise(torch.device("cpu")))


@pytest.mark.skipif(torch.cuda.is_available(), reason="streams are not those of an accelerator here")
def test_what_is_done_beside_is_there_before_it_is_measured_and_before_the_key_is_gone(clocks, monkeypatch):
    """All of a step under streams that know what comes before what."""
    total, seen = integer_sum(), {}

    def watched(name, does):
        def work(*given, **options):
            seen[name] = clocks.work(name)
            return does(*given, **options)

        return work

    monkeypatch.setattr(total._noise, "draw", watched("draw", total._noise.draw))
    monkeypatch.setattr(total._noise, "add_to", watched("add", total._noise.add_to))
    monkeypatch.setattr(_SingleForm, "has_short_sum", True)
    monkeypatch.setattr(_SingleForm, "write_steps", watched("write", _SingleForm.write_steps))
    monkeypatch.setattr(total._noise, "forget", watched("forget", total._noise.forget))
    monkeypatch.setattr(_SingleForm, "squares", watched("squares", _SingleForm.squares))
    norms = integer_sum_module.bounded_norms
    monkeypatch.setattr(integer_sum_module, "bounded_norms", watched("norms", norms))
    use = OuterUse(torch.ones(2, 1, 3), torch.ones(2, 1, 4))
    measured = total.measure([[total.keep({"weight": use})["weight"]]], torch.ones(2).double(), 0.7)
    total.draw_key()
    total.release_alone(measured, 0.7)
    assert "squares" in seen["norms"]
    assert "write" in seen["add"]
    assert {"draw", "add", "write"} <= seen["forget"]
