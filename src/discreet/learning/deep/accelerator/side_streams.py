"""Parts of a recorded program that an accelerator may do at the same time."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import cycle
from types import TracebackType

import torch

__all__ = ["SideStreams"]

_COUNT = 3  # by time measured


class SideStreams:
    """While a program is recorded, gives its parts to several streams in turn, and waits for all of them.

    Parts must not depend on each other. Outside of a recording all is done in order: to start a part costs
    more there than waiting for the one before.
    """

    def __init__(self) -> None:
        is_recorded = torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()
        self._streams = [torch.cuda.Stream() for _ in range(_COUNT if is_recorded else 0)]
        self._turns = cycle(self._streams)

    def __enter__(self) -> SideStreams:
        for stream in self._streams:
            stream.wait_stream(torch.cuda.current_stream())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in self._streams:
            torch.cuda.current_stream().wait_stream(stream)

    def next(self) -> AbstractContextManager[object]:
        """Return the stream of the next part."""
        return torch.cuda.stream(next(self._turns)) if self._streams else nullcontext()
