"""Tries packages as a user would: each in an environment of its own, where one question is asked.

``python -m book.packages dist`` installs every wheel and sdist of a folder, runs the command and a first
question, and writes beside them which versions were installed: requirements.txt with hashes, which
``pip install --require-hashes -r`` takes on the same kind of machine, and sbom.json (CycloneDX).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

__all__ = ["bill_of_materials", "locked", "try_package"]

ROOT = Path(__file__).parents[1]
QUESTION = """
import discreet as dp, pandas as pd
rows = pd.DataFrame({"patient": [*range(100)], "city": ["Lyon", "Taipei"] * 50})
cities = {"city": dp.Keys(["Lyon", "Taipei"])}
table = dp.Table(rows, person="patient", limits=dp.Limits(rows=1), columns=cities)
clinic = dp.Curator({"visits": table}, budget=dp.Budget(epsilon=1), ledger="clinic.ledger")
answer = clinic.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=1)
assert len(answer["n"].tolist()) == 2 and clinic.ledger.verify().entries >= 3
run = dp.events.PoissonSampled(dp.events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
assert 0.94 < float(dp.accounting.epsilon(run, delta=1e-5)) < 0.95
from importlib.resources import files
pages = files("discreet.server.pages")
shown = [one.name for folder in ("templates", "static") for one in (pages / folder).iterdir()]
assert {"layout.html", "ask.html", "dashboard.css", "dashboard.js", "mark.svg"} <= {*shown}, shown
print("asked and accounted with", dp.__file__)
"""


def _run(*words: str | Path, folder: Path) -> str:
    """Run a program in a folder, and return what it printed."""
    command = [*map(str, words)]
    return subprocess.run(command, cwd=folder, check=True, text=True, stdout=subprocess.PIPE).stdout  # noqa: S603


def try_package(package: Path) -> list[dict[str, Any]]:
    """Install a package into a new environment and use it; return what pip says that it installed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        report = folder / "report.json"
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--report", report]
        # pandas is for the question alone; a user brings a frame, a file or a database.
        _run(python, *install, "-c", ROOT / "constraints.txt", package, "pandas", folder=folder)
        print(_run(folder / "venv" / "bin" / "discreet", "--version", folder=folder), end="")
        print(_run(python, "-c", QUESTION, folder=folder), end="")
        installed: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return installed


def locked(installed: list[dict[str, Any]]) -> str:
    """Return the dependencies as lines of a requirements file, with the hashes of what was installed."""
    lines = []
    for one in installed:
        hashes = one["download_info"].get("archive_info", {}).get("hashes", {})
        if one["metadata"]["name"] != "discreet" and "sha256" in hashes:
            about = one["metadata"]
            lines.append(f"{about['name']}=={about['version']} --hash=sha256:{hashes['sha256']}")
    return "\n".join(sorted(lines, key=str.lower)) + "\n"


def bill_of_materials(installed: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the same as a bill of materials in the form of CycloneDX 1.5."""
    components = []
    for one in sorted(installed, key=lambda item: item["metadata"]["name"].lower()):
        name, version = one["metadata"]["name"], one["metadata"]["version"]
        component = {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name.lower()}@{version}",
        }
        sha = one["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        components.append(component | ({"hashes": [{"alg": "SHA-256", "content": sha}]} if sha else {}))
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components}


def main(folder: str) -> None:
    """Try every package of a folder, and write what the wheel was installed with."""
    place = Path(folder).resolve()
    wheels, sources = sorted(place.glob("*.whl")), sorted(place.glob("*.tar.gz"))
    if not wheels or not sources:
        sys.exit(f"{folder} does not hold a wheel and an sdist")
    for package in [*sources, *wheels]:
        print(package.name)
        installed = try_package(package)
    (place / "requirements.txt").write_text(locked(installed), encoding="utf-8")
    text = json.dumps(bill_of_materials(installed), indent=1)
    (place / "sbom.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
