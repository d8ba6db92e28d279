"""Outside of a recording, parts are done one after another; in one, the program waits for them."""

from __future__ import annotations

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


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_results_of_parts_come_when_the_next_has_been_started(count):
    done, seen = [], []
    with SideStreams(1) as streams:
        parts = [lambda place=place: done.append(place) or 10 * place for place in range(count)]
        for result in streams.one_ahead(parts):
            seen.append(result)
            assert len(done) == min(len(seen) + 1, count)
    assert seen == [10 * place for place in range(count)]


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
            for scaled in streams.one_ahead([lambda k=k: (given * k).cumsum(0) for k in range(5)]):
                total = total + scaled
        return total

    expected = work()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    for _ in range(3):
        graph.replay()
        assert torch.equal(found, expected)
