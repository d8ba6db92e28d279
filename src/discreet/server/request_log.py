"""One line for every request, and counts of them: who, which word, at what cost, with which status.

No line has a value, a question, a key or an address of the network; how long a request took is the slot that
it left in. The counts depend on what was sent and what was answered alone.

A log that nobody reads holds up nobody: a line for which a pipe has no room is dropped, and counted.
"""

from __future__ import annotations

import json
import select
import threading
from collections import Counter
from datetime import UTC, datetime
from typing import TextIO

from discreet.records import dataclass
from discreet.visible import visible

__all__ = ["FORMATS", "LoggedRequest", "RequestLog"]

FORMATS = ("text", "json", "none")
"""How lines are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """What is said of a request.

    Attributes
    ----------
    request : str
        Its number, which its answer carries as well.
    word : str
        What was asked for; "other" if there is no such thing.
    status : int
        Of HTTP.
    code : str
        Of the catalogue; empty if it was answered.
    key, name : str
        The prefix of the key, and whose it is; empty if there was none.
    cost : str
        What was charged now, in words.
    slot : int
        The slot that the answer left in; 0 if it did not wait for one.
    """

    request: str
    word: str
    status: int
    code: str = ""
    key: str = ""
    name: str = ""
    cost: str = ""
    slot: int = 0


class RequestLog:
    """Writes lines, and counts.

    Parameters
    ----------
    stream : TextIO
        Where lines go.
    form : {"text", "json", "none"}
        How they are written.
    """

    def __init__(self, stream: TextIO, form: str = "text") -> None:
        self._stream = stream
        self._form = form
        self._counts: Counter[tuple[str, int]] = Counter()
        self._dropped = 0
        self._lock = threading.Lock()

    def write(self, one: LoggedRequest) -> None:
        """Count a request, and write its line. A line that cannot be written keeps no answer back."""
        with self._lock:
            self._counts[one.word, one.status] += 1
        if self._form == "none":
            return
        time = f"{datetime.now(UTC).isoformat(timespec='seconds')[:19]}Z"
        fields = {name: getattr(one, name) for name in one.__slots__}
        if self._form == "json":
            line = json.dumps({"time": time, **fields})
        else:
            line = " ".join([time, *(f"{name}={visible(value)}" for name, value in fields.items() if value)])
        try:
            has_room = _has_room(self._stream)
            if has_room:
                self._stream.write(f"{line}\n")
                self._stream.flush()
        except (OSError, ValueError):  # a full disk, or a stream that is closed
            has_room = False
        with self._lock:
            self._dropped += not has_room

    def metrics(self, *, workers: int, restarts: int) -> str:
        """Return the counts in the form of Prometheus."""
        with self._lock:
            counted = sorted(self._counts.items())
        return "".join(
            [
                "# TYPE discreet_requests_total counter\n",
                *(
                    f'discreet_requests_total{{word="{word}",status="{status}"}} {count}\n'
                    for (word, status), count in counted
                ),
                "# TYPE discreet_log_lines_dropped_total counter\n",
                f"discreet_log_lines_dropped_total {self._dropped}\n",
                "# TYPE discreet_workers gauge\n",
                f"discreet_workers {workers}\n",
                "# TYPE discreet_worker_restarts_total counter\n",
                f"discreet_worker_restarts_total {restarts}\n",
            ]
        )


def _has_room(stream: TextIO) -> bool:
    """Return whether a line can be written without waiting: a pipe that has room takes a whole page."""
    try:
        handle = stream.fileno()
    except (OSError, ValueError):  # not a file: it is in memory
        return True
    waiting = select.poll()
    waiting.register(handle, select.POLLOUT)
    return any(event & select.POLLOUT for _, event in waiting.poll(0))
