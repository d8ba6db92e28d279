"""A file outside the ledger that remembers its head, so that an old copy is noticed.

The file holds one anchor. It is replaced after each commit, atomically, and never goes back, unless its owner
recovers from an accident (`put`). It helps only if an accident, or an attacker, does not restore it together
with the ledger: keep it on another disk.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.curator.ledger import messages
from discreet.curator.ledger.entry import Anchor
from discreet.errors import LedgerTampered, LedgerUnavailable, ParameterError

__all__ = ["AnchorFile", "replace_file"]


class AnchorFile:
    """One anchor, in a file.

    Parameters
    ----------
    path : str or Path
        Where it is. Its directory must exist; the file is created when the first anchor is written.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).expanduser().absolute()

    def read(self) -> Anchor | None:
        """Return the anchor, or None if there is no file yet.

        Raises
        ------
        LedgerTampered
            If the file holds something else.
        LedgerUnavailable
            If it cannot be read.
        """
        try:
            text = self._path.read_text(encoding="ascii")
            return Anchor.from_text(text)
        except FileNotFoundError:
            return None
        except OSError:
            raise LedgerUnavailable(messages.ANCHOR) from None
        except (ParameterError, UnicodeDecodeError):
            raise LedgerTampered("its anchor file holds no anchor") from None

    def check_writable(self) -> None:
        """Refuse a file that cannot be replaced, before anything is recorded.

        Raises
        ------
        LedgerUnavailable
            If its directory may not be written to.
        """
        if not os.access(self._path.parent, os.W_OK | os.X_OK):
            raise LedgerUnavailable(messages.ANCHOR)

    def advance(self, head: Anchor) -> Anchor:
        """Put a head in place of an earlier one, or keep a later one; return the one that stays.

        Raises
        ------
        LedgerTampered
            If the file holds another entry with the same sequence.
        LedgerUnavailable
            If it cannot be written.
        """
        try:
            with _locked(self._path.parent):
                kept = self.read()
                if kept is not None and kept.sequence >= head.sequence:
                    if kept.sequence == head.sequence and kept != head:
                        raise LedgerTampered("it is another entry than the anchor names", head.sequence)
                    return kept
                replace_file(self._path, f"{head}\n".encode("ascii"))
                return head
        except OSError:
            raise LedgerUnavailable(messages.ANCHOR) from None

    def put(self, head: Callable[[], Anchor]) -> Anchor:
        """Put a head in place of whatever is there, on its owner's decision; return it.

        It is asked for while no one else can write the file, so that of two heads the later one stays.

        Raises
        ------
        LedgerUnavailable
            If it cannot be written.
        """
        try:
            with _locked(self._path.parent):
                found = head()
                replace_file(self._path, f"{found}\n".encode("ascii"))
                return found
        except OSError:
            raise LedgerUnavailable(messages.ANCHOR) from None


def replace_file(path: Path, content: bytes) -> None:
    """Write `content` to a file, durably and atomically, readable only by its owner."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    synchronize(path.parent)


def synchronize(directory: Path) -> None:
    """Make the names in a directory durable."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold a lock that is released when the process ends, so that the later of two heads stays."""
    import fcntl

    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)  # closing would leave the lock with a child forked meanwhile
    finally:
        os.close(handle)
