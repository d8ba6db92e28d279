"""How much a test does: a part of it in `make test`, and all of it in `make test-slow`.

`make test` is for every change, so it must be quick; `make test-slow` runs before a release. Tests that are
long come in two sizes, in one of three ways:

- `examples`: Hypothesis tries fewer examples, unless the profile is "thorough", as in `make test-slow`, which
  runs all tests of properties again, whether they are marked as slow or not, with half of their examples, and
  with all of them if ``EXAMPLES=all``;
- ``@pytest.mark.few(n)``: of the cases of one test, n are run by `make test`, and the others are slow;
- `sizes`: one body is run with a small number, and with a large one, which is slow.

`make coverage` simulates 40 times as many releases as `make test-slow` (`releases`), and ``CORPUS=all make
test-slow`` asks the whole corpus on every engine.

Whatever needs Spark is slow, so that `make test` starts no Java.
"""

from __future__ import annotations

import os
from itertools import groupby

import pytest
from hypothesis import settings

from randomness import IS_FRESH

SHARE = 16
LEAST = 2


def register_profiles() -> None:
    """Register the two numbers of examples; the smaller is the usual one.

    There is no deadline: how long an example takes depends on the machine.
    """
    for name, many in (("thorough", _thorough(40)), ("usual", 6)):
        settings.register_profile(name, deadline=None, max_examples=many, derandomize=not IS_FRESH)
    settings.load_profile("usual")


def examples(full: int) -> int:
    """Return how many examples to try: half of them in the profile "thorough", else one in `SHARE`."""
    if settings.get_current_profile_name() == "thorough":
        return _thorough(full)
    return min(full, max(LEAST, full // SHARE))


def _thorough(full: int) -> int:
    return full if os.environ.get("EXAMPLES") == "all" else max(1, full // 2)


def releases(full: int) -> int:
    """Return how many releases to simulate: all of them in `make coverage`, else a few."""
    return full if os.environ.get("RELEASES") == "all" else full // 40


def sizes(small: object, *full: object) -> list[object]:
    """Return parameters of one test: the small one for `make test`, and the others for `make test-slow`.

    A tuple stands for several parameters.
    """
    spread = (one if isinstance(one, tuple) else (one,) for one in full)
    return [small, *(pytest.param(*one, marks=pytest.mark.slow) for one in spread)]


def mark_all_but_a_few(items: list[pytest.Item]) -> None:
    """Mark all but a few cases of a test as slow, where it has the mark `few`."""
    marked = [
        item for item in items if item.get_closest_marker("few") and not item.get_closest_marker("slow")
    ]
    for _, cases in groupby(marked, key=lambda item: (item.path, item.originalname)):
        every = list(cases)
        kept = _spread(every, every[0].get_closest_marker("few").args[0])
        for place, item in enumerate(every):
            if place not in kept:
                item.add_marker(pytest.mark.slow)


def mark_spark(items: list[pytest.Item]) -> None:
    """Mark every test of Spark as slow: starting it takes longer than most tests together."""
    for item in items:
        if "spark_engine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def _spread(cases: list[pytest.Function], many: int) -> set[int]:
    """Choose cases so that soon every value of every parameter has been seen, and else evenly."""
    values = [set(case.callspec.indices.items()) for case in cases]
    rest, seen, kept = list(range(len(cases))), set(), set()
    while rest and len(kept) < many:
        even = len(kept) * len(cases) // many
        chosen = max(rest, key=lambda place: (len(values[place] - seen), -((place - even) % len(cases))))
        rest.remove(chosen)
        kept.add(chosen)
        seen |= values[chosen]
    return kept
