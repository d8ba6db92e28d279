"""What may never make two draws share words: interruptions, copies, forks and threads."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from discreet.noise.entropy import Replay, System, current, replay
from noise.sources import Counting


def all_different(arrays) -> bool:
    """Return whether no word occurs twice; by chance, 10^5 words do so once in 10^9 runs."""
    words = np.concatenate(arrays)
    return len(np.unique(words)) == len(words)


# What an interruption may not do


class Interruption(Exception):
    pass


def interrupted(call, function, line: int) -> bool:
    """Make a call that is interrupted before the n-th new line of `function`; tell whether it got there."""
    seen: set[int] = set()

    def tracer(frame, event, argument):
        del argument
        if frame.f_code is not function.__code__:
            return None
        if event == "line" and frame.f_lineno not in seen:
            seen.add(frame.f_lineno)
            if len(seen) == line:
                raise Interruption
        return tracer

    previous = sys.gettrace()
    sys.settrace(tracer)
    try:
        call()
    except Interruption:
        return True
    finally:
        sys.settrace(previous)
    return False


def test_an_interrupted_read_leaves_no_erased_words_behind():
    source = System()
    source.words(3)
    read, line = [source.words(2)], 1
    while interrupted(lambda: source.words(2), System._next, line):
        read.append(source.words(2))
        assert read[-1].all(), "a read returned words that were erased before"
        line += 1
    assert line > 4
    assert all_different(read)


def test_an_interrupted_new_key_does_not_leave_the_old_one_in_use():
    """A child whose new key was interrupted must not go on with the parent's."""
    line, interruptions = 1, True
    while interruptions:
        source = System()
        source.words(1)
        parents_key, parents_words = source._key, source._buffer.copy()
        source._process = -1  # as if forked
        interruptions = interrupted(lambda source=source: source.words(1), System._rekey, line)
        words = source.words(4)
        assert source._key != parents_key
        assert not set(words.tolist()) & set(parents_words.tolist())
        line += 1
    assert line > 3


def test_a_refused_new_key_is_asked_for_again(monkeypatch):
    source = System()
    source.words(1)
    parents_key, parents_words = source._key, source._buffer.copy()
    source._process = -1  # as if forked
    real = os.urandom

    def refuse(size):
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", refuse)
    with pytest.raises(OSError, match="no entropy"):
        source.words(4)
    monkeypatch.setattr(os, "urandom", real)
    words = source.words(4)
    assert source._key != parents_key
    assert not set(words.tolist()) & set(parents_words.tolist())


# Copies


@pytest.mark.parametrize(
    "source", [System(), Replay(1), Counting()], ids=lambda source: type(source).__name__
)
def test_sources_cannot_be_copied(source):
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            duplicate(source)
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy({"inside": [source]})
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be copied"):
            pickle.dumps(source, protocol)


FORK = """
import os, sys
from discreet.noise.entropy import System, current, using
{before}
explicit = System()
explicit.words(3)
current().words(3)

def report(name):
    words = [*explicit.words(4), *current().words(4), *explicit.words(600)[:4]]
    with using(explicit):
        words += [*current().words(2)]
    os.write(1, (name + " " + " ".join(str(word) for word in words) + "\\n").encode())

for child in range(3):
    if os.fork() == 0:
        report("child")
        if os.fork() == 0:
            report("grandchild")
            os._exit(0)
        os.wait()
        os._exit(0)
    os.wait()
report("parent")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "before",
    ["", "os.getpid = lambda: 4242"],
    ids=["plain", "process number used again"],
)
def test_no_process_repeats_another(before):
    done = subprocess.run(
        [sys.executable, "-c", FORK.format(before=before)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == 7
    words = [word for line in lines for word in line.split()[1:]]
    assert len(words) == 7 * 14
    assert len(set(words)) == len(words), "two processes drew the same words"


# Threads


def test_every_thread_has_its_own_source():
    barrier = threading.Barrier(8)

    def read(_):
        barrier.wait()
        source = current()
        return source, [source.words(size) for size in (1, 5, 600, 2)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(read, range(8)))
    assert len({id(source) for source, _ in results}) == 8
    assert current() not in [source for source, _ in results]
    assert current() is current()
    assert all_different([words for _, read in results for words in read])


@pytest.mark.parametrize("size", [1, 600])
def test_a_shared_source_never_hands_out_a_word_twice(size):
    source = System()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    barrier = threading.Barrier(4)

    def read(_):
        barrier.wait()
        return [source.words(size)[:8] for _ in range(4000 if size == 1 else 200)]

    try:
        with ThreadPoolExecutor(4) as pool:
            read = [words for results in pool.map(read, range(4)) for words in results]
    finally:
        sys.setswitchinterval(interval)
    assert all(words.all() for words in read), "a thread was handed words that were erased"
    assert all_different(read), "two threads were handed the same words"


BUSY_FORK = """
import os, sys, threading
from discreet.noise.entropy import System
source = System()
busy = True

def hammer():
    while busy:
        source.words(1)
        source.words(600)

threads = [threading.Thread(target=hammer) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(40):
    if os.fork() == 0:
        source.words(1)
        source.words(600)
        os._exit(0)
for _ in range(40):
    assert os.wait()[1] == 0
busy = False
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_busy_process_is_not_locked_out():
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUSY_FORK], capture_output=True, check=True, timeout=60
    )


def test_blocks_that_end_out_of_order_leave_no_source_behind():
    def block(seed):
        with replay(seed):
            yield

    first, second = block(1), block(2)
    next(first)
    next(second)
    first.close()
    assert isinstance(current(), Replay)
    second.close()
    assert isinstance(current(), System)


def test_a_signal_handler_that_draws_repeats_nothing():
    """A handler may run between any two steps of a draw, in the same thread."""
    source = System()
    seen: list[int] = []

    def handler(number, frame):
        seen.extend(source.words(3).tolist())

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        drawn = [word for _ in range(40_000) for word in source.words(2).tolist()]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    words = drawn + seen
    assert len(seen) > 30
    assert 0 not in words
    assert len(set(words)) == len(words)
