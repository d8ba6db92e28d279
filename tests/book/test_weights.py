"""What libraries weigh is what their files take."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

from book.weights import main, weight, weights


def test_a_library_weighs_what_its_files_take():
    found = distribution("packaging")
    folder = Path(str(found.locate_file("packaging")))
    code = sum(path.stat().st_size for path in folder.rglob("*.py"))
    assert code <= weight(found) < code + 500_000


def test_extras_weigh_more_than_the_core(capsys):
    found = dict(weights(("plot",)))
    assert sum(found["core"].values()) < sum(found["plot"].values())
    assert found["core"].keys() <= found["plot"].keys()
    main("plot")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("| core | scipy ")
    assert lines[3].startswith("| plot | core, matplotlib ")
