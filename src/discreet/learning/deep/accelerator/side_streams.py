"""Parts of a recorded program that an accelerator may do at the same time."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import cycle

import torch

__all__ = ["SideStreams"]

_COUNT = 3  # by time measured


class SideStreams:
    """While a program is recorded, gives its parts to several streams in turn.

    A part may read what was made before it began, and what it reads must be held until `join`. Outside of a
    recording all is done in order: to start a part costs more there than waiting for the one before.
    """

    def __init__(self) -> None:
        self._streams: list[torch.cuda.Stream] = []
        self._turns = cycle(range(_COUNT))

    def next(self) -> AbstractContextManager[object]:
        """Return the stream of the next part."""
        if not (torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()):
            return nullcontext()
        if not self._streams:
            self._streams = [torch.cuda.Stream() for _ in range(_COUNT)]
        stream = self._streams[next(self._turns)]
        stream.wait_stream(torch.cuda.current_stream())
        return torch.cuda.stream(stream)

    def join(self) -> None:
        """Let what follows wait for all parts."""
        if self._streams and torch.cuda.is_current_stream_capturing():
            for stream in self._streams:
                stream.wait_stream(torch.cuda.current_stream())  # one without parts is of the recording, too
                torch.cuda.current_stream().wait_stream(stream)
