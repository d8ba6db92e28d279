"""Time, width and memory of certified epsilon against other accountants, in one run.

Every cell of a table is its own process, with one thread: it answers once, which gives the peak memory,
then a few times more, on noise that differs by a billionth part so that nothing is remembered; the median
processor and wall time count. `memory` is what the answer added to the memory in use after the libraries were
imported. `width` is upper minus lower; dp-accounting's lower bound comes from a second, optimistic
distribution that is not timed, and Opacus has none. `over` is upper minus the lower bound of discreet: the
truth lies no further below.

Run with ``python -m benchmarks.accounting``; ``--quick`` runs two cases. Peers are optional: what is absent
is named.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

from benchmarks.accounting_few_steps import print_few_steps
from benchmarks.accounting_peers import ACCOUNTANTS, CALIBRATORS, Run, Step, Unsupported

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
MOST_SECONDS, MOST_BYTES = 150, 12 * 2**30
REPEATS, PATIENCE = 7, 6.0
PACKAGES = ("numpy", "scipy", "dp-accounting", "prv-accountant", "opacus")


def sampled(name: str, noise: float, rate: float, times: int, delta: float) -> Run:
    """Return the run of a training: normal noise on Poisson samples."""
    return Run(name=name, steps=(Step("sampled", noise, rate, times),), delta=delta)


CASES = [
    sampled("(a) sigma 4, q .01, T 1e4, delta 1e-5", 4, 0.01, 10**4, 1e-5),
    sampled("(b) sigma .8, q .001, T 1e5, delta 1e-6", 0.8, 0.001, 10**5, 1e-6),
    sampled("(f) sigma 4, q .001, T 1e6, delta 1e-6", 4, 0.001, 10**6, 1e-6),
    sampled("(f2) sigma 1, q 1e-4, T 1e6, delta 1e-6", 1, 1e-4, 10**6, 1e-6),
    sampled("(h1) sigma 1, q .2, T 500, delta 1e-5", 1, 0.2, 500, 1e-5),
    sampled("(h2) sigma 50, q .001, T 1000, delta 1e-10", 50, 0.001, 1000, 1e-10),
    Run(name="Gaussian, sigma 10, T 1000, delta 1e-6", steps=(Step("gaussian", 10, 1, 1000),), delta=1e-6),
    Run(name="Laplace, epsilon .1, T 1000, delta 1e-6", steps=(Step("laplace", 0.1, 1, 1000),), delta=1e-6),
    Run(
        name="mix: Laplace .05 x 50, Gaussian 20 x 200, sampled (1, .01) x 1000, delta 1e-6",
        steps=(Step("laplace", 0.05, 1, 50), Step("gaussian", 20, 1, 200), Step("sampled", 1, 0.01, 1000)),
        delta=1e-6,
    ),
]
SERIES = [sampled(f"T = 1e{k}", 4, 0.001, 10**k, 1e-6) for k in range(3, 8)]
SERIES_OF = ("discreet", "dp-accounting 1e-4 (default)", "prv-accountant .1 (default)")
CALIBRATION = (0.01, 10**4, 1.0, 1e-5)


def varied(run: Run, repeat: int) -> Run:
    """Change all noise by a billionth part, so that no answer is remembered from the one before."""
    steps = tuple(step._replace(noise=step.noise * (1 + repeat * 1e-9)) for step in run.steps)
    return replace(run, steps=steps)


def measured(answer: Callable[[int], object]) -> dict[str, object]:
    """Answer once for the memory, then again, on slightly other numbers each time, for the time."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    found = answer(0)
    first = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = [], []
    for repeat in range(max(1, min(REPEATS, int(PATIENCE / max(first, 1e-9))))):
        clocks = time.process_time(), time.perf_counter()
        answer(repeat + 1)
        cpu.append(time.process_time() - clocks[0])
        wall.append(time.perf_counter() - clocks[1])
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "found": found,
        "cpu": statistics.median(cpu),
        "wall": statistics.median(wall),
        "memory": (peak - before) / unit,
        "peak": peak / unit,
    }


def imported(package: str) -> None:
    """Import what an accountant needs, so that the memory of imports is not counted."""
    module = "opacus.accountants" if package == "opacus" else package
    importlib.import_module(module)
    if package == "dp_accounting":
        importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    if package == "discreet":
        importlib.import_module("discreet.accounting")
        importlib.import_module("scipy.optimize")


def cell(name: str, case: str) -> dict[str, object]:
    """Measure one accountant on one run, or one calibration: in this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    warnings.simplefilter("ignore")
    if case == "calibration":
        package, calibrator = CALIBRATORS[name]
        imported(package)
        rate, times, epsilon, delta = CALIBRATION
        return measured(lambda repeat: calibrator(rate, times, epsilon * (1 + repeat * 1e-9), delta))
    accountant = next(a for a in ACCOUNTANTS if a.name == name)
    run = next(r for r in CASES + SERIES if r.name == case)
    imported(accountant.package)
    try:
        result = measured(lambda repeat: accountant.upper(varied(run, repeat)))
    except Unsupported:
        return {"problem": "does not know these steps"}
    except MemoryError:
        return {"problem": f"needs more than {MOST_BYTES >> 30} GiB"}
    lower, upper = result["found"]  # type: ignore[misc]
    if accountant.lower is not None:
        try:
            lower = accountant.lower(run)
        except MemoryError:
            lower = None
    return {**result, "found": [lower, upper]}


def in_own_process(name: str, case: str) -> dict[str, object]:
    """Measure a cell in its own process."""
    command = [sys.executable, "-m", "benchmarks.accounting", "--cell", json.dumps([name, case])]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
            env={**os.environ, **ONE_THREAD},
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"over {MOST_SECONDS} s"}
    if done.returncode:
        return {"problem": (done.stderr.strip().splitlines() or ["failed"])[-1][:90]}
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def present(package: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    return importlib.util.find_spec(package) is not None


def line(name: str, result: dict[str, object], bounds: str) -> str:
    """Write one row: bounds, then times and memory."""
    if "problem" in result:
        return f"  {name:<29} {result['problem']}"
    cpu, wall = (float(result[clock]) * 1e3 for clock in ("cpu", "wall"))  # type: ignore[arg-type]
    memory, peak = (float(result[size]) for size in ("memory", "peak"))  # type: ignore[arg-type]
    return f"  {name:<29} {bounds} {cpu:>9.1f} {wall:>9.1f} {memory:>9.1f} {peak:>8.0f}"


def bounds_of(result: dict[str, object], truth: float) -> str:
    """Write lower, upper, width and the distance from a lower bound of the truth."""
    if "problem" in result:
        return ""
    lower, upper = result["found"]  # type: ignore[misc]
    over = f"{upper - truth:>8.1e}"
    if lower is None:
        return f"{'':>11} {upper:>11.7f} {'':>8} {over}"
    return f"{lower:>11.7f} {upper:>11.7f} {upper - lower:>8.1e} {over}"


def table(names: list[str], run: Run, label: Callable[[str], str]) -> None:
    """Print a row for each accountant; discreet comes first, and its lower bound is what `over` refers to."""
    truth = float("nan")
    for name in names:
        result = in_own_process(name, run.name)
        if name == "discreet" and "problem" not in result:
            truth = result["found"][0]  # type: ignore[index]
        print(line(label(name), result, bounds_of(result, truth)), flush=True)


COLUMNS = f"{'CPU ms':>9} {'wall ms':>9} {'memory MB':>9} {'peak MB':>8}"
HEAD = f"  {'':<29} {'lower':>11} {'upper':>11} {'width':>8} {'over':>8} {COLUMNS}"


def main() -> None:
    """Print all tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="two cases, no series, no calibration")
    options.add_argument("--cell", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.cell:
        print(json.dumps(cell(*json.loads(chosen.cell))))
        return
    versions = [
        f"{name} {importlib.metadata.version(name)}" for name in PACKAGES if present(name.replace("-", "_"))
    ]
    print(f"Python {platform.python_version()}, {', '.join(versions)}; one thread (OMP_NUM_THREADS=1).")
    absent = sorted({a.package for a in ACCOUNTANTS if not present(a.package)})
    print(f"Not installed, and left out: {', '.join(absent) or 'nothing'}.\n")
    usable = [a.name for a in ACCOUNTANTS if present(a.package)]
    for run in CASES[:2] if chosen.quick else CASES:
        print(run.name, HEAD, sep="\n")
        table(usable, run, str)
        print()
    if present("dp_accounting"):
        print_few_steps(quick=chosen.quick)
        print()
    if chosen.quick:
        return
    print("Time against the number of steps: sigma 4, q .001, delta 1e-6", HEAD, sep="\n")
    for run in SERIES:
        chosen_few = [name for name in SERIES_OF if name in usable]
        table(chosen_few, run, lambda name, run=run: f"{run.name}, {name.split(' ')[0]}")  # type: ignore[misc]
    rate, times, epsilon, delta = CALIBRATION
    print(f"\nThe least sigma for epsilon {epsilon:g} at delta {delta:g}, q {rate:g}, T {times}")
    print(f"  {'':<29} {'sigma':>41} {COLUMNS}")
    for name, (package, _) in CALIBRATORS.items():
        if present(package):
            result = in_own_process(name, "calibration")
            found = "" if "problem" in result else f"{float(result['found']):>41.7f}"  # type: ignore[arg-type]
            print(line(name, result, found), flush=True)


if __name__ == "__main__":
    main()
