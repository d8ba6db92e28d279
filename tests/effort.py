"""How much a test does: a part of it in `make test`, more in `make test-slow`, all in `make test-all`.

`make test` is for every change, so it must be quick; `make test-slow` is for what others get, and takes half
an hour; `make test-all` takes hours, before a release. Tests that are long come in sizes, in one of several
ways:

- `examples`: of its examples Hypothesis tries one in `SHARE`, and in the profile "thorough", as in `make
  test-slow`, which runs all tests of properties again, whether they are marked as slow or not, one in four;
- ``@pytest.mark.few(n, slow=m)``: of the cases of one test, n are run by `make test`, and m others by `make
  test-slow`, which runs all others if there is no m;
- `sizes`: one body is run with a small number, with a large one, which is slow, and with a huge one;
- `releases`: of the releases to simulate, `make test-slow` makes one in forty;
- ``@pytest.mark.exhaustive``: for `make test-all` alone.

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
ALL = os.environ.get("EFFORT") == "all"
"""Whether this is `make test-all`."""


def register_profiles() -> None:
    """Register the two numbers of examples; the smaller is the usual one.

    There is no deadline: how long an example takes depends on the machine.
    """
    for name, many in (("thorough", _thorough(40)), ("usual", 6)):
        settings.register_profile(name, deadline=None, max_examples=many, derandomize=not IS_FRESH)
    settings.load_profile("usual")


def examples(full: int) -> int:
    """Return how many examples to try: one in four in the profile "thorough", else one in `SHARE`."""
    if settings.get_current_profile_name() == "thorough":
        return _thorough(full)
    return min(full, max(LEAST, full // SHARE))


def _thorough(full: int) -> int:
    return full if ALL else max(1, full // 4)


def releases(full: int) -> int:
    """Return how many releases to simulate: all of them in `make test-all`, else a few."""
    return full if ALL else full // 40


def sizes(small: object, *full: object, exhaustive: object = None) -> list[object]:
    """Return parameters of one test: the small one for `make test`, and the others for `make test-slow`.

    A tuple stands for several parameters. What is exhaustive is for `make test-all` alone.
    """
    huge = [] if exhaustive is None else [(exhaustive, pytest.mark.exhaustive)]
    spread = [*((one, pytest.mark.slow) for one in full), *huge]
    return [
        small,
        *(pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=mark) for one, mark in spread),
    ]


def mark_all_but_a_few(items: list[pytest.Item]) -> None:
    """Mark all but a few cases of a test as slow or exhaustive, where it has the mark `few`."""
    marked = [
        item
        for item in items
        if item.get_closest_marker("few")
        and not any(item.get_closest_marker(name) for name in ("slow", "exhaustive"))
    ]
    for _, cases in groupby(marked, key=lambda item: (item.path, item.originalname)):
        every = list(cases)
        asked = every[0].get_closest_marker("few")
        kept = _spread(every, asked.args[0])
        rest = [item for place, item in enumerate(every) if place not in kept]
        slow = _spread(rest, asked.kwargs.get("slow", len(rest)))
        for place, item in enumerate(rest):
            item.add_marker(pytest.mark.slow if place in slow else pytest.mark.exhaustive)


def leave_out_exhaustive(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is exhaustive for `make test-all`, where it is slow."""
    long = [item for item in items if item.get_closest_marker("exhaustive")]
    for item in long:
        item.add_marker(pytest.mark.slow)
    if long and not ALL:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


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
