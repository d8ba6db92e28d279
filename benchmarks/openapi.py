"""Schemathesis over a server: ``python -m benchmarks.openapi [--examples 50] [--schemathesis st]``.

It makes requests from the OpenAPI page, within the stated forms and outside them, and sends them with the key
of an owner. It fails if a status is 5xx, or if a status, a type or a body is not what the page states.

Schemathesis is not among the dependencies of the tests, as it changes how pytest starts: install it in an
environment of its own, and name its command.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from benchmarks.service import Server, prepare
from discreet.server.keys import KeyFile, keys_beside

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def main() -> None:
    """Start a server, and send it what Schemathesis makes up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--schemathesis", default="st", help="the command")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        prepare(place, 1_000_000, None)
        key = KeyFile(keys_beside(place / "clinic.toml")).create("owner", role="owner")[1]
        server = Server(place, workers=2, slot=0.01)
        server.start()
        typed = ["run", f"{server.url}/openapi.json", "-H", f"Authorization: Bearer {key}"]
        typed += ["--checks", ",".join(CHECKS), "--max-examples", str(options.examples)]
        typed += ["--phases", "examples,coverage,fuzzing", "--suppress-health-check", "all", "--no-color"]
        try:
            ended = subprocess.run([options.schemathesis, *typed], cwd=place, check=False)  # noqa: S603
        finally:
            server.stop()
    raise SystemExit(ended.returncode)


if __name__ == "__main__":
    main()
