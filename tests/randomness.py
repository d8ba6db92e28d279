"""Where the randomness of tests comes from: the same for the same test, unless ``SEED=fresh``.

A statistical test may fail by chance, and a suite of twenty thousand tests that draws anew in every run
would fail by chance too often to say anything about a change. So each test has a stream of its own, a
function of its name and of ``SEED`` (0 unless stated): what passed once passes again, on every worker and in
every order, until the code that it tests draws differently. ``SEED=7 make test`` draws other numbers, and
``SEED=fresh make test`` takes them from the operating system as releases do.

Only the bytes of the operating system are replaced: what turns them into noise is what private releases use.
Processes that a test starts draw fresh randomness.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import secrets
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.noise import entropy

SEED = os.environ.get("SEED", "0")
IS_FRESH = SEED == "fresh"


class _Stream:
    """The random bytes of one test, or of one fixture that several tests share."""

    def begin(self, name: str) -> None:
        """Start the stream of that name, wherever the one before it was."""
        self._name, self._calls, self._process = name, itertools.count(), os.getpid()
        for system in list(entropy._systems):
            system._forget()
        random.seed(self.read(8))
        # scikit-learn takes NumPy's old generator where no seed is given.
        np.random.seed(int.from_bytes(self.read(4)))  # noqa: NPY002
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(int.from_bytes(self.read(7)))

    def read(self, size: int) -> bytes:
        """Return the next bytes; a forked child has others than its parent."""
        process = "" if os.getpid() == self._process else os.getpid()
        text = f"{SEED}\0{self._name}\0{next(self._calls)}\0{process}"
        return hashlib.shake_256(text.encode()).digest(size)


_stream = _Stream()


class _OperatingSystem:
    """What the product's sources ask of the operating system, which answers from the stream."""

    getpid = staticmethod(os.getpid)

    @staticmethod
    def urandom(size: int) -> bytes:
        os.urandom(size)  # which may refuse
        return _stream.read(size)


def some_seed() -> int:
    """Return a seed for a test that names the one it failed with."""
    return secrets.randbits(32) if IS_FRESH else int.from_bytes(_stream.read(4))


def install() -> None:
    """Give tests their streams, in place of the operating system and of NumPy's generators without a seed."""
    if IS_FRESH:
        return
    generator_of = np.random.default_rng

    def generator(seed: object = None) -> np.random.Generator:
        return generator_of(int.from_bytes(_stream.read(16)) if seed is None else seed)

    np.random.default_rng = generator
    entropy.os = _OperatingSystem()
    _stream.begin("collection")


def _begin(name: str) -> None:
    if not IS_FRESH:
        _stream.begin(name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _begin(f"{item.nodeid} setup")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> Iterator[object]:
    """Give a fixture that several tests share the same stream, whichever of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    _begin(f"{fixturedef.baseid} {fixturedef.argname} {request.param_index}")
    try:
        return (yield)
    finally:
        _begin(f"{request.node.nodeid} after {fixturedef.argname}")
