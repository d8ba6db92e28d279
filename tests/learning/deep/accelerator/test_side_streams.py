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
