"""Plants faults one at a time and reports which of them the nearest tests let pass.

    make mutants
    python -m tests.mutation --room noise --per-module 10 --seed 3
    python -m tests.mutation --only mechanisms/values.py --per-module 0     # every change of one module

The package is copied to a temporary folder and changed there; the working tree stays as it is. A child
process, forked with the libraries already loaded, runs the tests of a changed copy until the first failure.
Survivors that are the same function in other words are listed, with the reason, in ``equivalent.toml``.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import TYPE_CHECKING

from tests.mutation.changes import Change, changes_of
from tests.mutation.targets import PACKAGE, ROOMS, ROOT, modules_of, tests_of

if TYPE_CHECKING:
    import pytest

LIBRARIES = ("numpy", "scipy.stats", "scipy.special", "mpmath", "hypothesis", "pandas", "pyarrow")
HEAVY = ("ibis", "duckdb", "sqlglot")  # only where tests of tables are run
PATIENCE, GRACE = 4.0, 20.0
MEMORY = 8 << 30


@dataclass(frozen=True, slots=True)
class Found:
    """How one change fared: killed, survived, slow (stopped for running too long) or equivalent."""

    module: Path
    change: Change
    fate: str
    reason: str = ""


class Pace:
    """Runs quick tests first, as most faults are found by many; the first run tells how long each takes."""

    def __init__(self, kept: Path) -> None:
        self.kept = kept
        self.known = json.loads(kept.read_text()) if kept.exists() else None
        self.seen: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sort tests by their time."""
        if self.known is not None:
            items.sort(key=lambda item: self.known.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a test, and what it needs, takes."""
        self.seen[report.nodeid] = self.seen.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Keep the times of the first run."""
        if self.known is None:
            self.kept.write_text(json.dumps(self.seen))


def main() -> int:
    """Run what the command line asks for; the exit status is 1 if a survivor is unexplained."""
    asked = _arguments()
    modules = [
        (room, module)
        for room in asked.room or ROOMS
        for module in modules_of(room)
        if asked.only is None or any(path in str(module) for path in asked.only)
    ]
    for library in (*LIBRARIES, *(HEAVY if any("data" in str(one) for _, one in modules) else ()), "pytest"):
        try:
            __import__(library)
        except ImportError:
            continue
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(PACKAGE, copy / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(copy, quiet=1, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(Path(folder) / "examples")
        os.environ["PYTHONPATH"] = str(copy)
        sys.path.insert(0, str(copy))
        found: dict[str, list[Found]] = {room: [] for room, _ in modules}
        for room, module in modules:
            found[room] += _module(module, copy / "discreet" / module.relative_to(PACKAGE), asked)
    return _report(found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.splitlines()[0])
    parser.add_argument("--room", action="append", choices=list(ROOMS), help="one room; may be repeated")
    parser.add_argument("--only", metavar="PATH", action="append", help="modules whose path contains this")
    parser.add_argument("--per-module", type=int, default=3, metavar="N", help="changes drawn; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing of changes")
    parser.add_argument("--lines", metavar="A-B", help="changes on these lines only")
    return parser.parse_args()


def _module(module: Path, target: Path, asked: argparse.Namespace) -> list[Found]:
    name, source = module.relative_to(PACKAGE), module.read_text()
    drawn = _drawn(changes_of(source), str(name), asked)
    tests = tests_of(module)
    if not drawn:
        return []
    if not tests:
        print(f"{name}: no test of its stem", flush=True)
        return [Found(module, change, "survived") for change in drawn]
    started, pace = time.monotonic(), target.with_suffix(".pace")
    if _fails(tests, None, pace) is not False:
        print(f"{name}: its tests do not pass as they are", flush=True)
        return [Found(module, change, "survived") for change in drawn]
    limit = PATIENCE * (time.monotonic() - started) + GRACE
    known = _equivalents()
    cached = [*target.parent.glob(f"__pycache__/{target.stem}.*.pyc")]
    for one in cached:
        one.unlink()
    found = []
    for change in drawn:
        target.write_text(change.applied(source))
        fate = {True: "killed", False: "survived", None: "slow"}[_fails(tests, limit, pace)]
        reason = known.get((str(name), change.function, change.shown))
        reason = reason or known.get((str(name), change.function, "any"))
        if fate == "survived" and reason is not None:
            fate = "equivalent"
        found.append(Found(module, change, fate, reason or ""))
        if fate == "survived":
            print(f"    {name}:{change.line} in {change.function}: {change.shown}", flush=True)
    target.write_text(source)
    print(f"{name}: {_counted(found)} ({time.monotonic() - started:.0f} s)", flush=True)
    return found


def _drawn(changes: list[Change], name: str, asked: argparse.Namespace) -> list[Change]:
    if asked.lines:
        first, last = map(int, asked.lines.split("-"))
        changes = [one for one in changes if first <= one.line <= last]
    if not asked.per_module or len(changes) <= asked.per_module:
        return changes
    # The seed names the module too, so that a change in one does not move the sample of another.
    chosen = random.Random(f"{asked.seed} {name}").sample(range(len(changes)), asked.per_module)
    return [changes[place] for place in sorted(chosen)]


def _fails(tests: list[Path], limit: float | None, pace: Path) -> bool | None:
    """Tell whether the tests fail, in a process of their own; None if they had to be stopped."""
    child = os.fork()
    if child == 0:
        os.setsid()
        _silenced()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # a planted fault may ask for all there is
        sys.dont_write_bytecode = limit is not None  # the first run, of what is right, keeps compiled tests
        os.environ["EFFORT"] = "uncut"
        import pytest

        arguments = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--hypothesis-seed=1"]
        arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # Hypothesis is loaded already
        arguments += ["--rootdir", str(ROOT), *map(str, tests)]
        os._exit(int(pytest.main(arguments, plugins=[Pace(pace)])) != 0)
    end = None if limit is None else time.monotonic() + limit
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status != 0
        if end is not None and time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.02)


def _silenced() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if "MUTANTS_SHOW" not in os.environ:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)


def _equivalents() -> dict[tuple[str, str, str], str]:
    listed = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text())
    return {
        (one["module"], one["function"], one["change"]): one["reason"] for one in listed.get("equivalent", [])
    }


def _counted(found: list[Found]) -> str:
    fates = Counter(one.fate for one in found)
    return ", ".join(f"{fates[fate]} {fate}" for fate in ("killed", "survived", "slow", "equivalent"))


def _report(found: dict[str, list[Found]]) -> int:
    print("\nroom         " + "".join(f"{fate:>12}" for fate in ("killed", "survived", "slow", "equivalent")))
    for room, ones in found.items():
        fates = Counter(one.fate for one in ones)
        cells = (fates[fate] for fate in ("killed", "survived", "slow", "equivalent"))
        print(f"{room:<13}" + "".join(f"{cell:>12}" for cell in cells))
    survivors = [one for ones in found.values() for one in ones if one.fate == "survived"]
    for one in survivors:
        place = f"{one.module.relative_to(PACKAGE)}:{one.change.line}"
        print(f"{place} in {one.change.function}: {one.change.shown}")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
