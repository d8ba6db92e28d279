"""Outside of a recording, parts are done one after another where they are."""

from __future__ import annotations

import torch

from discreet.learning.deep.accelerator.side_streams import SideStreams


def test_parts_are_done_in_order():
    done = []
    with SideStreams() as streams:
        for place in range(5):
            with streams.next():
                done.append(place)
    assert done == list(range(5))


def test_there_are_no_streams_beside_without_a_recording():
    with SideStreams() as streams, streams.next():
        assert streams._streams == []
        assert not torch.cuda.is_available() or not torch.cuda.is_current_stream_capturing()
