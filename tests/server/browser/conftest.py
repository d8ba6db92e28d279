"""A real Chromium, and a clinic of invented patients for it. Both end with their module.

While Playwright runs, its event loop holds this thread: no other test may need one meanwhile.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from discreet.cli.clinic import CITIES, visits, write_visits
from server.service import Service, serving

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIETLY = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
DECLARATION = f"""\
[ledger]
location = "clinic.ledger"

[budget]
epsilon = 5
per_analyst = {{ epsilon = 2 }}

[tables.visits]
source = "visits.parquet"
person = "patient_id"
limits = {{ rows = 5 }}

[tables.visits.columns]
cost = {{ lower = 0, upper = 5000, step = 0.01 }}
age = {{ lower = 0, upper = 110 }}
city = {{ keys = {list(CITIES)} }}
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    if CHROMIUM is None:
        _without("no Chromium is on the path: install your system's package")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _without("no Playwright: pip install '.[test]' brings it")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=QUIETLY, timeout=180_000)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory: Path = tmp_path_factory.mktemp("tour")
    write_visits(visits(20_000), directory / "visits.parquet")
    (directory / "clinic.toml").write_text(DECLARATION, encoding="utf-8")
    folder = directory / "data"
    folder.mkdir()
    rows = "".join(f"{row % 50},{('north', 'south')[row % 2]},{row % 9}\n" for row in range(400))
    (folder / "stays.csv").write_text(f"patient_id,ward,nights\n{rows}", encoding="utf-8")
    with serving(directory, "--data-folder", str(folder), "--owners-may-amend") as found:
        yield found


def _without(why: str) -> NoReturn:
    """Skip what needs a browser; where CI runs, fail."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
