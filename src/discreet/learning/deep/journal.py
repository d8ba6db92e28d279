"""A file that says how many steps of a run were taken: each line is on the disk before its step is."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

from discreet.errors import LedgerUnavailable, ParameterError
from discreet.learning.deep.home_process import HomeProcess
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
    least as many steps as were begun: a line that was written in part counts. A fork of the process has the
    file open too, and can charge nothing. A file that is refused is closed.
    """

    def __init__(self, path: str | os.PathLike[str], step: Event) -> None:
        self._path = Path(path)
        head = json.dumps({"kind": _KIND, "step": step.to_object()}, sort_keys=True) + "\n"
        self._home = HomeProcess()
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise _unopened(error) from None
        try:
            self.taken = self._read(head)
        except BaseException:
            self.close()
            raise

    def _read(self, head: str) -> int:
        """Return how many steps the file holds, with its first line written where there was none."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            text = self._path.read_text(encoding="utf-8", errors="replace")
            if not text or (head.startswith(text) and text != head):
                os.ftruncate(self._file, 0)  # a file whose first line was never finished: nothing was taken
                self._write(head)
                self._keep_name()
                text = head
        except BlockingIOError:
            raise LedgerUnavailable("the journal is open in another process; end that run first") from None
        except OSError as error:
            raise _unopened(error) from None
        if not text.startswith(head):
            raise ParameterError(
                "record",
                "is a file of something else, or of steps with other noise",
                "a new file, or the same plan",
            )
        rest = text[len(head) :]
        if rest and not rest.endswith("\n"):
            self._write("\n")  # so that the next line is one of its own
            return rest.count("\n") + 1
        return rest.count("\n")

    def charge(self, event: Event) -> None:
        """Record that a step is about to be taken; refused in a fork of the process that opened the file."""
        self._home.check()
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


def _unopened(error: OSError) -> LedgerUnavailable:
    return LedgerUnavailable(f"the journal cannot be opened: {error.strerror}")
