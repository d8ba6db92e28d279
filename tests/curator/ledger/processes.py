"""Running a harness in its own process, which may fork because it has one thread only."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]


def run(function: str, *, timeout: float = 280, **arguments: object) -> dict[str, object]:
    """Call ``module:function`` of the tests in a new process; arguments and result travel as JSON."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(TESTS), *sys.path]))
    finished = subprocess.run(
        [sys.executable, "-W", "error", __file__, function, json.dumps(arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


if __name__ == "__main__":
    module, name = sys.argv[1].split(":")
    result = getattr(importlib.import_module(module), name)(**json.loads(sys.argv[2]))
    print(json.dumps(result))
