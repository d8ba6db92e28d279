"""How long each test takes: measured by `make measure`, read by `effort` to keep `make test` short.

`durations.txt` has a line for each test whose cases together took more than `SECONDS`: the seconds of one
case, and the name of the test. A test that is not listed is run whole.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

SECONDS = 0.7
MEASURED = Path(__file__).with_name("durations.txt")


def seconds_per_case() -> dict[str, float]:
    """Return, of each test that takes long, the seconds of one case."""
    lines = (line.split(maxsplit=1) for line in MEASURED.read_text().splitlines())
    return {name: float(seconds) for seconds, name in lines}


def name_of_test(nodeid: str) -> str:
    """Return the name of the test, without the parameters of the case."""
    return nodeid.partition("[")[0]


class Stopwatch:
    """Adds up how long the cases of each test take, and writes what takes long."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.cases: dict[str, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count setting up, the call and tearing down."""
        self.seconds[name_of_test(report.nodeid)] += report.duration
        self.cases[name_of_test(report.nodeid)].add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the list, in the process that hears of all tests."""
        if not hasattr(session.config, "workerinput"):
            long = sorted(name for name, seconds in self.seconds.items() if seconds > SECONDS)
            lines = (f"{self.seconds[name] / len(self.cases[name]):.3f} {name}\n" for name in long)
            MEASURED.write_text("".join(lines))


def pytest_configure(config: pytest.Config) -> None:
    """Measure: what ``-p tests.durations`` asks for."""
    config.pluginmanager.register(Stopwatch())
