"""A file that says how many steps of a run were taken: each line is on the disk before its step is."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

from discreet.errors import LedgerUnavailable, ParameterError
from discreet.privacy.events import Event

__all__ = ["Journal"]

_KIND = "steps of a private training run"


class Journal:
    """Counts steps durably, one line each; the first line holds the event of one step.

    Parameters
    ----------
    path : str or path
        The file; made where there is none. Only one process can have it open.
    step : Event
        What each step releases. A file of other steps is refused.

    Guarantee
    ---------
    When `charge` returns, the line has been written and flushed to the disk. What follows a crash reads at
    least as many steps as were begun: a line that was written in part counts.
    """

    def __init__(self, path: str | os.PathLike[str], step: Event) -> None:
        self._path = Path(path)
        head = json.dumps({"kind": _KIND, "step": step.to_object()}, sort_keys=True) + "\n"
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            text = self._path.read_text(encoding="utf-8", errors="replace")
            if not text or (head.startswith(text) and text != head):
                os.ftruncate(self._file, 0)  # a file whose first line was never finished: nothing was taken
                self._write(head)
                self._keep_name()
                text = head
        except BlockingIOError:
            os.close(self._file)
            raise LedgerUnavailable("the journal is open in another process; end that run first") from None
        except OSError as error:
            raise LedgerUnavailable(f"the journal cannot be opened: {error.strerror}") from None
        if not text.startswith(head):
            self.close()
            raise ParameterError(
                "record",
                "is a file of something else, or of steps with other noise",
                "a new file, or the same plan",
            )
        rest = text[len(head) :]
        self.taken = rest.count("\n")
        if rest and not rest.endswith("\n"):
            self.taken += 1
            self._write("\n")  # so that the next line is one of its own

    def charge(self, event: Event) -> None:
        """Record that a step is about to be taken."""
        self._write(json.dumps({"taken": self.taken + 1}) + "\n")
        self.taken += 1

    def close(self) -> None:
        """Let others open the file."""
        os.close(self._file)

    def _write(self, line: str) -> None:
        try:
            data = line.encode()
            if os.write(self._file, data) != len(data):
                raise LedgerUnavailable("the journal cannot be written; no step is taken")
            os.fsync(self._file)
        except OSError as error:
            raise LedgerUnavailable(
                f"the journal cannot be written: {error.strerror}; no step is taken"
            ) from None

    def _keep_name(self) -> None:
        folder = os.open(self._path.resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
