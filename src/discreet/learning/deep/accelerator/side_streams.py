"""Parts of a recorded program that an accelerator may do while it goes on with others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import cycle
from types import TracebackType
from typing import Any, TypeVar

import torch

__all__ = ["SideStreams", "is_recording"]

_Result = TypeVar("_Result")


class SideStreams:
    """While a program is recorded, gives some of its parts to streams of their own.

    A part comes after all that was recorded before it, but for parts on other streams. What it reads and
    returns is held until the program waits for it. Outside of a recording all is done in order: to start a
    part costs more there than waiting for the one before.

    Parameters
    ----------
    count : int
        How many streams there are, which take turns.
    most_open : int, optional
        With more parts than these, the program waits for the oldest, so that it need not be held.
    """

    def __init__(self, count: int, most_open: int | None = None) -> None:
        self._streams = cycle([torch.cuda.Stream() for _ in range(count)]) if is_recording() else None
        self._urgent = torch.cuda.Stream(priority=-1) if is_recording() else None
        self._most_open = most_open
        self._open: deque[tuple[torch.cuda.Event, Any]] = deque()

    def __enter__(self) -> SideStreams:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wait()

    def start(self, part: Callable[[], _Result]) -> _Result:
        """Do a part, and return its result, which may be used after waiting."""
        return part() if self._streams is None else self._do(part, next(self._streams))

    def start_urgent(self, part: Callable[[], _Result]) -> _Result:
        """Do a part on a stream for itself, whose kernels need not wait until others have all begun."""
        return part() if self._urgent is None else self._do(part, self._urgent)

    def _do(self, part: Callable[[], _Result], stream: torch.cuda.Stream) -> _Result:
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            result = part()
        self._open.append((stream.record_event(), (part, result)))
        if self._most_open is not None and len(self._open) > self._most_open:
            self._wait_for_oldest()
        return result

    def wait(self) -> None:
        """Wait for all parts."""
        while self._open:
            self._wait_for_oldest()

    def _wait_for_oldest(self) -> None:
        done, _ = self._open.popleft()
        torch.cuda.current_stream().wait_event(done)


def is_recording() -> bool:
    """Whether what is done now is recorded, as a program that has its memory for itself."""
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()
