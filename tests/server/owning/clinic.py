"""A small clinic whose owner has a folder of tables that are not declared yet."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from canary import DATA_NUMBER, DATA_TEXT, private
from discreet.front.declaring.declaration import read_declaration
from discreet.front.opening import amend_file, open_file
from discreet.server.owning.owner_options import OwnerOptions
from server.pages.dashboard import Dashboard, InProcess
from server.service import write_small_clinic

SOURCE = {"file": None, "variable": None, "csv": None}
COLUMN = dict.fromkeys(("lower", "upper", "step", "keys", "first", "last", "type"))
COLUMN |= {"numbered": False, "null_key": False}
TABLE = {
    **SOURCE,
    "name": "stays",
    "person": "patient_id",
    "rows": 3,
    "groups": None,
    "rows_per_group": None,
    "version": "1",
    "prepare": False,
    "columns": {},
}
HEADER = {"first_line_has_names": True}
RECORDS = "patient_id,ward,nights\n1,north,3\n1,south,2\n2,north,1\n"


def write_folder(directory: Path) -> Path:
    """A folder with a table as records and one with types, and files that are not tables."""
    folder = directory / "data"
    (folder / "more").mkdir(parents=True)
    canaries = f"{DATA_NUMBER},{DATA_TEXT},{DATA_NUMBER}\n"
    private(folder / "stays.csv").write_text(RECORDS + canaries)
    rows = pd.DataFrame({"patient_id": [1, 1, 2], "ward": ["north", "south", DATA_TEXT], "nights": [3, 2, 1]})
    rows.to_parquet(private(folder / "more" / "stays.parquet"))
    (folder / "notes.md").write_text("not a table")
    (folder / ".hidden.csv").write_text("a\n1\n")
    (folder / "link.csv").symlink_to(directory / "visits.csv")
    (folder / "out").symlink_to(directory)
    return folder


def options_of(directory: Path, **more: object) -> OwnerOptions:
    given = {"folder": str(directory / "data"), "may_amend": True, **more}
    return OwnerOptions(declaration=str(directory / "clinic.toml"), **given)


def stated(**more: object) -> dict:
    """A table of the folder, as an owner states it."""
    return {**TABLE, "file": "stays.csv", "csv": HEADER, **more}


def column(**more: object) -> dict:
    return {**COLUMN, **more}


def make_clinic(directory: Path, **caps: float) -> OwnerOptions:
    """Write the clinic, its folder and its ledger; return what its owner may do."""
    write_small_clinic(directory, **caps)
    write_folder(directory)
    open_file(directory / "clinic.toml").close()
    return options_of(directory)


def ask_for_two(directory: Path) -> None:
    """From now on two owners must agree."""
    file = directory / "clinic.toml"
    amend_file(file, reason="two from now on", agreed=["ana", "bea"], two_owners=True).close()


def amendments(directory: Path) -> list[dict]:
    with_ledger = read_declaration(directory / "clinic.toml").ledger.open()
    found = [entry.body for entry in with_ledger.entries() if entry.kind == "amend"]
    with_ledger.close()
    return found


def copies(directory: Path) -> list[Path]:
    """What is beside the declaration since it was changed."""
    return sorted(
        path for path in directory.iterdir() if "clinic.toml" in path.name and path.suffix != ".toml"
    )


class Reopening(InProcess):
    """Says words as a worker does, and opens what is declared anew when it is told to."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._file = file

    async def renew(self) -> None:
        self.curator.close()
        self.curator = open_file(self._file)


@contextmanager
def clinic_of_an_owner(directory: Path, **options: object) -> Iterator[Dashboard]:
    """Pages, and words, of a clinic whose owner may declare tables."""
    make_clinic(directory)
    file = directory / "clinic.toml"
    with asyncio.Runner() as runner:
        pool = Reopening(file)
        found = Dashboard(file=file, pool=pool, log=io.StringIO(), runner=runner)
        found.options = options_of(directory, **options)
        yield found
        pool.curator.close()


def said(dashboard: Dashboard, key: str, method: str, path: str, body: object = None) -> tuple[int, dict]:
    """What a program gets for a word."""
    visitor = dashboard.visitor()
    header = {"authorization": f"Bearer {key}"}
    if method == "GET":
        answer = visitor.get(path, headers=header)
    else:
        answer = visitor.post(path, headers=header, json=body)
    return answer.status_code, json.loads(answer.text)
