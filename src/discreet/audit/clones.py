"""Clones of a mechanism, and of the source it draws from, must not repeat its noise.

Two releases with the same noise reveal the difference of their inputs exactly. A generator
that lives in an object repeats itself when the object is copied, pickled or carried into a
forked process; one that is seeded repeats itself from the start.
"""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import select
import signal
import warnings
from collections import Counter
from math import ceil, log
from typing import TYPE_CHECKING, cast

from discreet.audit.outputs import observe, output_key
from discreet.audit.report import OWN_GENERATOR, Finding
from discreet.noise.entropy import current

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from discreet.audit.samples import Auditable
    from discreet.noise.entropy import Source

__all__ = ["check_clones"]

CLONES_FALSE_ALARM = 1e-12

_TRIAL = 1000
_MOST_RELEASES = 4000
_PATIENCE = 60.0
_WORDS = 16


def check_clones(mechanism: Auditable, value: object, *, prototype: bool = False) -> Finding:
    """Compare sequences of releases of a mechanism, its clones, and its forked children.

    The clones of a prototype, whose generator is its own, repeat its noise as a matter of course: they are
    named, and not judged. One that repeats itself fails.
    """
    length = _length(mechanism, value)
    if length is None:
        return Finding(
            name="clones", verdict="skipped", detail="outputs vary too little for repetition to mean anything"
        )

    def keys(clone: object, count: int) -> list[Hashable]:
        release = cast("Auditable", clone).release
        return [output_key(observe(release, value)) for _ in range(count)]

    def trace(clone: object) -> bytes:
        return hashlib.sha256(repr(keys(clone, length)).encode()).digest()

    repeats, refusals = [], []
    itself = ["the mechanism itself"] if _in_cycles(keys(mechanism, 2 * length)) else []
    for name, make in _CLONES.items():
        try:
            clone = make(mechanism)
        except Exception:
            refusals.append(name)
            continue
        if trace(clone) == trace(mechanism):
            repeats.append(name)
    source = [f"{name} of its source" for name in _CLONES if _source_repeats(name)]
    forked = _forked(lambda: trace(mechanism) + _source_trace(current()))
    if forked is not None and _common([trace[:32] for trace in forked]):
        repeats.append("fork")
    if forked is not None and _common([trace[32:] for trace in forked]):
        source.append("fork of its source")
    if prototype and repeats and not itself and not source:
        return Finding(
            name="clones",
            verdict="skipped",
            detail=f"{OWN_GENERATOR}, whose noise is repeated by {', '.join(repeats)}",
        )
    repeats = [*itself, *repeats, *source]
    tried = ", ".join([*_CLONES, "fork"] if forked is not None else _CLONES)
    refused = f"; it refuses {', '.join(refusals)}" if refusals else ""
    detail = (
        f"noise is repeated by {', '.join(repeats)}"
        if repeats
        else f"no noise is repeated by {tried} over {length} releases{refused}"
    )
    return Finding(
        name="clones",
        verdict="failed" if repeats else "passed",
        detail=detail,
        false_alarm=CLONES_FALSE_ALARM,
    )


_CLONES: dict[str, Callable[[object], object]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),  # noqa: S301
}


def _in_cycles(keys: list[Hashable]) -> bool:
    """Return whether the second half of a sequence began before, in its first half."""
    half = len(keys) // 2
    return any(keys[start : start + half] == keys[half:] for start in range(half))


def _length(mechanism: Auditable, value: object) -> int | None:
    """Return how many releases coincide by chance with probability below `CLONES_FALSE_ALARM`.

    Two independent sequences of n releases coincide with probability at most m^n, where m is the
    largest mass of an output. It is taken from a trial, raised by five standard deviations.
    """
    counts = Counter(output_key(observe(mechanism.release, value)) for _ in range(_TRIAL))
    share = max(counts.values()) / _TRIAL
    most = share + 5 * (max(share * (1 - share), 1 / _TRIAL) / _TRIAL) ** 0.5
    # Ten comparisons share the rate, and one for every place at which a cycle may begin.
    shared = CLONES_FALSE_ALARM / (10 + _MOST_RELEASES)
    length = ceil(log(shared) / log(most)) if most < 1 else _MOST_RELEASES + 1
    return max(length, 8) if length <= _MOST_RELEASES else None


def _source_trace(source: Source) -> bytes:
    return source.words(_WORDS).tobytes()


def _source_repeats(name: str) -> bool:
    source = current()
    try:
        clone = cast("Source", _CLONES[name](source))
    except Exception:
        return False
    trace = _source_trace(clone)
    return bool(trace) and trace == _source_trace(source)


def _common(traces: list[bytes]) -> bool:
    """Return whether two processes have the same trace."""
    return len(set(traces)) < len(traces)


def _forked(trace: Callable[[], bytes]) -> list[bytes] | None:
    """Return the traces of two forked children and of this process, or None if it cannot fork."""
    if not hasattr(os, "fork"):
        return None
    children = [_child(trace) for _ in range(2)]
    traces = [trace()]
    for process, pipe in children:
        received = b""
        while select.select([pipe], [], [], _PATIENCE)[0]:
            part = os.read(pipe, 65536)
            if not part:
                break
            received += part
        os.close(pipe)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        if not received:
            return None
        traces.append(received)
    return traces


def _child(trace: Callable[[], bytes]) -> tuple[int, int]:
    """Fork a child that writes its trace into a pipe and ends without any cleaning up."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks while threads run. This child only draws, writes and ends, and
        # is given up after a while if a lock that a thread held keeps it waiting.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        os.close(writer)
        return process, reader
    try:
        os.write(writer, trace())
    finally:
        os._exit(0)
