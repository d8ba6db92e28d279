"""A worker: a process that holds the curator and answers one message after another.

Questions are read, planned and computed here, never in the process that talks to the network: whatever a
question does to a parser or an engine, it does to a process that can be killed. A worker that is killed after
a charge leaves the charge in the ledger; the same question is then computed by another worker at no cost.

Messages come on the input and go to the output, each as a length and JSON. What a library prints goes
nowhere.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from pathlib import Path
from typing import BinaryIO

from discreet.errors import DiscreetError, LedgerMismatch
from discreet.server.catalogue import problem_of
from discreet.server.service_limits import ServiceLimits

__all__ = ["error_met", "packed", "work"]

LENGTH = struct.Struct(">Q")
_MEBIBYTE = 1 << 20


def packed(content: object) -> bytes:
    """Return a message as it goes through a pipe."""
    written = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    return LENGTH.pack(len(written)) + written


def work() -> None:
    """Open the curator of a declaration, say that it is open, and answer until the input ends."""
    settings = json.loads(sys.argv[1])
    limits = ServiceLimits(**settings["limits"])
    output = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to stop
    _limit_memory(limits)
    from discreet.front.opening import open_file
    from discreet.server.words import do_word

    try:
        curator = open_file(Path(settings["file"]))
    except (DiscreetError, OSError) as error:
        _write(output, {"failed": _described(error)})
        return
    _write(output, {"ready": True})
    while (message := _read(sys.stdin.buffer)) is not None:
        is_current = True
        try:
            reply: object = {"content": do_word(curator, message, limits)}
            written = packed(reply)
        except Exception as error:
            written = packed(problem_of(error))
            is_current = not isinstance(error, LedgerMismatch)
        output.write(written)
        output.flush()
        if not is_current:  # the tables were amended: the next worker opens them as they are declared now
            return


def _own_output() -> BinaryIO:
    """Keep the output for messages alone: what else is printed would be read as one."""
    channel = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    return channel


def _limit_memory(limits: ServiceLimits) -> None:
    """Bound the address space, and leave no image of the memory behind."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (limits.memory * _MEBIBYTE,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(stream: BinaryIO) -> dict[str, object] | None:
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    found: dict[str, object] = json.loads(stream.read(LENGTH.unpack(header)[0]))
    return found


def _write(output: BinaryIO, content: object) -> None:
    output.write(packed(content))
    output.flush()


def _described(error: Exception) -> dict[str, object]:
    """Return an error for the one who starts the server, who owns the declaration."""
    if isinstance(error, OSError):
        return {"kind": "OSError", "arguments": [error.errno, error.strerror, str(error.filename)]}
    kind = next(one for one in type(error).__mro__ if one.__module__ == DiscreetError.__module__)
    return {"kind": kind.__name__, "arguments": [] if kind.__name__ == "EngineFailed" else list(error.args)}


def error_met(described: dict[str, object]) -> Exception:
    """Return the error that a worker met when it opened the declaration."""
    kind, arguments = str(described["kind"]), described["arguments"]
    assert isinstance(arguments, list)  # noqa: S101
    known = {"OSError": OSError, **vars(sys.modules[DiscreetError.__module__])}
    found: type[Exception] = known[kind]
    return found(*arguments)


if __name__ == "__main__":
    work()
