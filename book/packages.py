"""Tries packages as a user would: each in an environment of its own, with exactly the files of the locks.

``python -m book.packages dist`` installs every wheel and sdist of a folder, first the core alone, then with
all that a server needs; the command runs, and a first question is asked. It is tried on the Python that runs
this, and on those that are named after the folder: ``python -m book.packages dist python3.12 python3.13``.
What the wheel was installed with is written beside it: sbom.json (CycloneDX).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.utils import canonicalize_name

from book.bill import bill_of_materials
from book.requirements import requirements_of

__all__ = ["LOCKED", "try_package"]

ROOT = Path(__file__).parents[1]
LOCKED = {
    "core": (),
    "serve": ("serve", "postgres", "plot"),
    "all": ("serve", "postgres", "plot", "spark", "polars", "learn"),
}
"""The files in locks/, each with the extras that it is for; PyTorch differs by machine and is in none."""

CORE = """
import discreet as dp
run = dp.events.PoissonSampled(dp.events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
assert 0.94 < float(dp.accounting.epsilon(run, delta=1e-5)) < 0.95
count = dp.Laplace(sensitivity=1, epsilon=1)
assert isinstance(count.release(10), int)
try:
    dp.Table("visits.csv", person="patient", limits=dp.Limits(rows=1))
except dp.errors.MissingExtra as missing:
    assert "discreet[tables]" in str(missing)
else:
    raise AssertionError("a table was opened without what opens it")
print("accounted with the core alone")
"""
QUESTION = """
import discreet as dp, pandas as pd
rows = pd.DataFrame({"patient": [*range(100)], "city": ["Lyon", "Taipei"] * 50})
cities = {"city": dp.Keys(["Lyon", "Taipei"])}
table = dp.Table(rows, person="patient", limits=dp.Limits(rows=1), columns=cities)
clinic = dp.Curator({"visits": table}, budget=dp.Budget(epsilon=1), ledger="clinic.ledger")
answer = clinic.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=1)
assert len(answer["n"].tolist()) == 2 and clinic.ledger.verify().entries >= 3
answer.plot()
from importlib.resources import files
pages = files("discreet.server.pages")
shown = [one.name for folder in ("templates", "static") for one in (pages / folder).iterdir()]
assert {"layout.html", "ask.html", "dashboard.css", "dashboard.js", "mark.svg"} <= {*shown}, shown
import discreet.server.serving
print("asked, answered and drawn")
"""


def _run(*words: str | Path, folder: Path) -> str:
    """Run a program in a folder, and return what it printed."""
    command = [*map(str, words)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(  # noqa: S603
        command,
        cwd=folder,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        env=environment | {"MPLBACKEND": "agg"},
    )
    return done.stdout


def try_package(package: Path, python: str) -> str:
    """Install a package into a new environment of a Python and use it; return its bill of materials."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(python, "-m", "venv", folder / "venv", folder=folder)
        own = folder / "venv" / "bin" / "python"
        install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        report = folder / "report.json"
        _run(*install, "--require-hashes", "-r", ROOT / "locks" / "core.txt", folder=folder)
        _run(*install, "--no-deps", package, folder=folder)
        print(_run(folder / "venv" / "bin" / "discreet", "--version", folder=folder), end="")
        print(_run(own, "-c", CORE, folder=folder), end="")
        lock = ROOT / "locks" / "serve.txt"
        _run(
            *install, "--ignore-installed", "--require-hashes", "--report", report, "-r", lock, folder=folder
        )
        print(_run(own, "-m", "pip", "check", folder=folder), end="")
        print(_run(own, "-c", QUESTION, folder=folder), end="")
        hashes = {
            canonicalize_name(one["metadata"]["name"]): one["download_info"]["archive_info"]["hashes"][
                "sha256"
            ]
            for one in json.loads(report.read_text(encoding="utf-8"))["install"]
        }
        libraries = _run(own, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder)
        bill = bill_of_materials(requirements_of(*LOCKED["serve"]), path=[libraries.strip()], hashes=hashes)
    return json.dumps(bill, indent=1) + "\n"


def main(folder: str, *others: str) -> None:
    """Try every package of a folder on this Python and on others, and write what the wheel came with."""
    place = Path(folder).resolve()
    wheels, sources = sorted(place.glob("*.whl")), sorted(place.glob("*.tar.gz"))
    if not wheels or not sources:
        sys.exit(f"{folder} does not hold a wheel and an sdist")
    for python in [*others, sys.executable]:
        if shutil.which(python) is None:
            sys.exit(f"there is no {python} here")
        for package in [*sources, *wheels]:
            print(f"{package.name} on {_run(python, '--version', folder=place).strip()}")
            bill = try_package(package, python)
    (place / "sbom.json").write_text(bill, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
