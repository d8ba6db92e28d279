"""Outside of a recording, parts are done one after another; in one, the program waits for them."""

from __future__ import annotations

import weakref
from functools import partial

import pytest
import torch

from discreet.learning.deep.accelerator.side_streams import SideStreams


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

    def stream(self):
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
        streams.wait()
        assert {"part", "other"} <= clocks.work("after")
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


def test_results_one_ahead_are_waited_for_and_the_next_is_not(clocks):
    with SideStreams(1) as streams:
        parts = [partial(clocks.work, place) for place in range(4)]
        for place, _ in enumerate(streams.one_ahead(parts)):
            before = clocks.work(f"use of {place}")
            assert place in before
            assert place + 1 not in before
