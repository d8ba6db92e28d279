"""Which files a question passes on its way, in order: ``python -m benchmarks.walk``.

A count by city is asked in SQL, previewed and explained. Printed are the files of discreet whose functions
run, by package, and how often the walk enters `front`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import FrameType

import pandas as pd

import discreet
from discreet import Bounds, Budget, Curator, Keys, Limits, Table

ROOT = Path(discreet.__file__).parent
SQL = "SELECT city, COUNT(*) AS n, AVG(age) AS mean_age FROM visits WHERE age > 18 GROUP BY city"


def files_of(action: Callable[[], object]) -> list[str]:
    """Return the file of every function of discreet that an action calls, in order of calls."""
    called: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_ours = code.co_filename.startswith(str(ROOT)) and code.co_name not in {"<module>", "__getattr__"}
        if event == "call" and is_ours:
            called.append(str(Path(code.co_filename).relative_to(ROOT)))

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return called


def report(name: str, called: list[str]) -> None:
    """Print the packages in the order of the walk, and how many files it passes."""
    packages = [file.rsplit("/", 1)[0] if "/" in file else file for file in dict.fromkeys(called)]
    entries = sum(package == "front" for package, _ in groupby(file.split("/")[0] for file in called))
    print(f"{name}: {len(dict.fromkeys(called))} files, enters front {entries} times")
    for package, files in groupby(packages):
        print(f"  {package} ({len(list(files))})")


def main() -> None:
    """Ask, preview and explain one question."""
    rows = pd.DataFrame({"p": range(1000), "city": ["Oslo", "Rome"] * 500, "age": [20, 40] * 500})
    table = Table(
        rows,
        person="p",
        limits=Limits(rows=2),
        columns={"city": Keys(["Oslo", "Rome"]), "age": Bounds(0, 100)},
    )
    with tempfile.TemporaryDirectory() as place:
        curator = Curator({"visits": table}, budget=Budget(epsilon=10), ledger=Path(place) / "ledger")
        curator.ask(SQL, epsilon=0.5)  # what is loaded once is not part of the walk
        report("explain", files_of(lambda: curator.explain(SQL, epsilon=0.25)))
        report("preview", files_of(lambda: curator.preview(SQL, epsilon=0.25)))
        report("ask", files_of(lambda: curator.ask(SQL, epsilon=0.25)))


if __name__ == "__main__":
    main()
