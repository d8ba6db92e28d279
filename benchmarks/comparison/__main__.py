"""Compares with the peers: ``make compare``, which writes docs/comparison.md.

Each peer is installed into an environment of its own below a folder, and does what it can of the work in
work.py; what does not install or run is named in the page with its reason. `--only NAME` asks one peer again
and keeps what is known of the others.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from benchmarks.comparison.page import written

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
SECONDS = 600
PEERS = {
    "OpenDP": ("opendp_peer", "opendp", ["opendp[polars]==0.16.0"]),
    "diffprivlib": ("diffprivlib_peer", "diffprivlib", ["diffprivlib", "scikit-learn<1.6"]),
    "dp-accounting": ("dp_accounting_peer", "dp-accounting", ["dp-accounting"]),
    "prv-accountant": ("prv_accountant_peer", "prv-accountant", ["prv-accountant"]),
    "Opacus": ("opacus_peer", "opacus", ["torch==2.13.0", "opacus"]),
    "SmartNoise SQL": ("smartnoise_peer", "smartnoise-sql", ["smartnoise-sql"]),
    "Tumult Analytics": ("tumult_peer", "tmlt.analytics", ["tmlt.analytics"]),
    "PyDP": ("pydp_peer", "python-dp", ["python-dp"]),
    "private-pgm": (None, "mbi", ["mbi>=2,<3"]),
}
"""The script that does the work (None: only installed), the package, and what is installed for it."""


def _environment() -> dict[str, str]:
    """Return the environment of a process that computes on one thread."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def _run(command: list[str], seconds: int) -> tuple[str, str]:
    """Run a command; return what it printed, and why it failed, or nothing."""
    try:
        done = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
            env=_environment(),
            cwd=ROOT,
        )
    except subprocess.TimeoutExpired as late:
        printed = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        return printed, f"a task did not end within {seconds} seconds"
    said = [line for line in done.stderr.strip().split("\n") if line.strip()]
    if done.returncode == 0:
        return done.stdout, ""
    # Where it is on this machine is nobody's concern.
    return done.stdout, re.sub(r" ?\(?(?:/[\w.+-]+){2,}\)?", "", said[-1] if said else "it failed")[:200]


def _measured(python: Path, script: str) -> dict[str, Any]:
    """Let a script do the work."""
    printed, failure = _run([str(python), str(HERE / f"{script}.py")], SECONDS)
    tasks = [json.loads(line) for line in printed.splitlines() if line.startswith('{"task"')]
    return {"tasks": {one.pop("task"): one for one in tasks}, "failure": failure}


def _peer(name: str, folder: Path) -> dict[str, Any]:
    """Install a peer, let it work, and return what is known of it."""
    script, package, wanted = PEERS[name]
    place = folder / package
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    _, failure = _run(install, SECONDS)
    if failure:
        return {
            "date": today,
            "version": None,
            "failure": f"it could not be installed: {failure}",
            "tasks": {},
        }
    asked = f"import importlib.metadata as m; print(m.version({package!r}))"
    version = _run([str(python), "-c", asked], SECONDS)[0].strip()
    found = (
        _measured(python, script)
        if script
        else {"tasks": {}, "failure": "it was installed, not run here: the tour has its figures"}
    )
    return {"date": today, "version": version, **found}


def main() -> None:
    """Ask everybody, remember what was found, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv-peers")
    parser.add_argument("--only", choices=[*PEERS, "discreet", "page"], action="append")
    options = parser.parse_args()
    known: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in options.only or ["discreet", *PEERS]:
        if name == "discreet":
            from discreet.version import __version__

            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            known[name] = {"date": today, "version": __version__, **_measured(Path(sys.executable), "ours")}
        elif name != "page":
            known[name] = _peer(name, options.folder)
        print(name, known.get(name, ""), flush=True)
        RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (ROOT / "docs" / "comparison.md").write_text(written(known), encoding="utf-8")


if __name__ == "__main__":
    main()
