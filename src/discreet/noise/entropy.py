"""Where randomness comes from: the only reader of the operating system's entropy.

A `Source` returns uniform 64-bit words. `System` is the one that private releases use:
an AES-256-CTR keystream, keyed by the operating system, whose key is replaced from its
own stream at every refill (so the key in use says nothing about noise drawn before), re-keyed
in every forked child, and impossible to copy. `Replay` repeats itself from a seed; it exists
for tests and marks every result as not private. A `KeyedSource` has a keystream of its own, keyed by
another source: for a thread that draws beside others.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from abc import ABC, abstractmethod
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.errors import ParameterError
from discreet.noise.replayed import mark_replayed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "Decision",
    "KeyedSource",
    "Replay",
    "Source",
    "System",
    "current",
    "in_batches",
    "replay",
    "using",
]

T = TypeVar("T")

LANES_AT_ONCE = 1 << 17
"""Lanes decided together: large enough to amortize NumPy's calls, small enough for the cache."""

_BATCH = 1 << 16
_BUFFERED_WORDS = 4096  # to make a cipher takes as long as these words, by time measured
_KEY_BYTES = 48
_ZEROS = bytes(8 * LANES_AT_ONCE)


class Decision(Protocol):
    """A rule that turns a uniform real number U in [0, 1) into an outcome.

    The first 64 bits of U arrive as a word; a rule that cannot decide from them asks the
    source for more bits of the same U, as many as it takes. So the outcome is that of the
    ideal real-valued rule, with no rounding.

    `blocks` is a public fact for auditors: inside each of that many equal blocks of
    [0, 1), the numbers U with a given outcome form an interval.
    """

    blocks: int

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide lanes `lane`, `lane + 1`, …, one word each."""
        ...


def in_batches(draw: Callable[[int], NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """Call a sampler of several steps on batches that stay in the processor's cache."""
    if size <= _BATCH:
        return draw(size)
    drawn = np.empty(size, np.int64)
    for start in range(0, size, _BATCH):
        count = min(_BATCH, size - start)
        drawn[start : start + count] = draw(count)
    return drawn


class Source(ABC):
    """A stream of independent uniform 64-bit words."""

    @abstractmethod
    def words(self, size: int) -> NDArray[np.uint64]:
        """Return `size` fresh words."""

    def bits(self, count: int) -> int:
        """Return a uniform integer of `count` bits, `count` a multiple of 64."""
        return int.from_bytes(self.words(count // 64).tobytes(), "big")

    def decide(self, decision: Decision, size: int) -> NDArray[np.int64]:
        """Return the outcomes of `size` independent uniforms under one rule."""
        with np.errstate(all="ignore"):  # a caller's np.seterr must not turn values into errors
            return self._decide(decision, size)

    def _decide(self, decision: Decision, size: int) -> NDArray[np.int64]:
        if size <= LANES_AT_ONCE:
            return decision.outcomes(self.words(size), 0, self)
        outcomes = np.empty(size, np.int64)
        for lane in range(0, size, LANES_AT_ONCE):
            count = min(LANES_AT_ONCE, size - lane)
            outcomes[lane : lane + count] = decision.outcomes(self.words(count), lane, self)
        return outcomes

    def mark(self, result: T) -> T:
        """Return a result as it may leave: unchanged if it is private, else marked as not."""
        return mark_replayed(result)

    def __copy__(self) -> NoReturn:
        raise TypeError("a source of randomness cannot be copied: two copies would repeat each other")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        self.__copy__()


# The library behind ciphers has its own locks, which a child would inherit locked if another thread made a
# cipher while its parent forked. So no thread makes one then. A signal handler may, in the same thread.
_making_ciphers = threading.RLock()


def _keystream(key: bytes, size: int) -> tuple[bytes, NDArray[np.uint64]]:
    """Return the next key and `size` words of the AES-256-CTR keystream under `key`."""
    with _making_ciphers:
        cipher = Cipher(algorithms.AES(key[:32]), modes.CTR(key[32:])).encryptor()
    next_key = cipher.update(bytes(_KEY_BYTES))
    words = np.empty(size + 2, np.uint64)  # update_into asks for a block of slack
    target = words.data.cast("B")
    for start in range(0, 8 * size, len(_ZEROS)):
        cipher.update_into(memoryview(_ZEROS)[: 8 * size - start], target[start:])
    with _making_ciphers:
        del cipher
    return next_key, words[:size]


_systems: weakref.WeakSet[System] = weakref.WeakSet()


class System(Source):
    """Words from a keystream that is keyed by the operating system."""

    def __init__(self) -> None:
        self._forget()
        _systems.add(self)

    def _forget(self) -> None:
        """Drop the key; the next read asks for a new one. Runs in forked children, where nothing may fail."""
        self._process: int | None = None
        self._lock = threading.Lock()

    def _rekey(self) -> None:
        # The process is set last: a new key that is interrupted or refused is asked for again.
        self._key = os.urandom(_KEY_BYTES)
        self._buffer = np.empty(0, np.uint64)
        self._used = 0
        self._process = os.getpid()

    def words(self, size: int) -> NDArray[np.uint64]:
        """Return `size` fresh words, and forget them."""
        if not self._lock.acquire(blocking=False):
            # Another thread is inside, or this is a signal handler that interrupted a draw.
            return np.frombuffer(os.urandom(8 * size), np.uint64).copy()
        try:
            return self._next(size)
        finally:
            self._lock.release()

    def _next(self, size: int) -> NDArray[np.uint64]:
        if self._process != os.getpid():
            self._rekey()
        if size > _BUFFERED_WORDS:
            self._key, words = _keystream(self._key, size)
            return words
        if self._used + size > len(self._buffer):
            self._key, self._buffer = _keystream(self._key, _BUFFERED_WORDS)
            self._used = 0
        taken = self._buffer[self._used : self._used + size]
        self._used += size  # first: an interruption may lose words, never hand them out twice
        words = taken.copy()
        taken.fill(0)
        return words

    def mark(self, result: T) -> T:
        """Return the result unchanged: it is private."""
        return result


class Replay(Source):
    """Words that repeat for the same seed. For tests: its results are not private."""

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ParameterError("seed", f"is a {type(seed).__name__}", "an int")
        self._key = hashlib.sha384(str(seed).encode()).digest()

    def words(self, size: int) -> NDArray[np.uint64]:
        """Return the next `size` words of the repeatable stream."""
        self._key, words = _keystream(self._key, size)
        return words


class KeyedSource(Source):
    """Words under a key that another source draws, for one use of one thread.

    What is drawn is the same however threads take turns, if each has a branch and branches are made in
    order. As private as its source.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._key = source.words(_KEY_BYTES // 8).tobytes()

    def words(self, size: int) -> NDArray[np.uint64]:
        """Return the next `size` words of the keystream, whose key is replaced from it."""
        self._key, words = _keystream(self._key, size)
        return words

    def mark(self, result: T) -> T:
        """Return a result as it may leave by the source of the key."""
        return self._source.mark(result)


_thread = threading.local()
_overrides: ContextVar[tuple[tuple[Source], ...]] = ContextVar("sources", default=())


def _forget_after_fork() -> None:
    global _making_ciphers, _thread  # noqa: PLW0603
    _making_ciphers = threading.RLock()
    _thread = threading.local()
    for system in list(_systems):
        system._forget()


def _hold_before_fork() -> None:
    _making_ciphers.acquire()


def _release_after_fork() -> None:
    _making_ciphers.release()


os.register_at_fork(
    before=_hold_before_fork, after_in_parent=_release_after_fork, after_in_child=_forget_after_fork
)


def current() -> Source:
    """Return the source that releases draw from: this thread's own `System`, unless overridden."""
    overrides = _overrides.get()
    if overrides:
        return overrides[-1][0]
    source: System | None = getattr(_thread, "source", None)
    if source is None:
        source = _thread.source = System()
    return source


@contextmanager
def using(source: Source) -> Iterator[Source]:
    """Draw from `source` inside a with-block. Results are marked unless it is a `System`.

    A block that ends takes away its own source and no other, in any order of blocks.
    """
    entry = (source,)
    _overrides.set((*_overrides.get(), entry))
    try:
        yield source
    finally:
        _overrides.set(tuple(other for other in _overrides.get() if other is not entry))


@contextmanager
def replay(seed: int) -> Iterator[Source]:
    """Draw repeatable noise inside a with-block; every result is marked as not private."""
    with using(Replay(seed)) as source:
        yield source
