"""Four new users, each with an ordinary day's work, and what each of them should see."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import discreet as dp

LINES = 1200
CITIES = ["Köln", "Mühlheim", "Bonn"]
DECLARATION = """
[ledger]
location = "besuche.ledger"

[budget]
epsilon = 3

[tables.besuche]
source = "besuche.csv"
person = "Fall"
limits = { rows = 1 }
csv = { delimiter = ";", decimal = ",", encoding = "cp1252", dates = "%d.%m.%Y" }

[tables.besuche.columns]
Ort = { keys = ["Köln", "Mühlheim", "Bonn"] }
Alter = { lower = 0, upper = 120 }
Kosten = { lower = 0, upper = 2000, step = 0.01 }
Tag = { dates = { first = "2026-01-01", last = "2026-12-31" } }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


@pytest.fixture
def messy() -> None:
    """A German CSV file: text ids, 73,0 for an integer, a comma for the decimal point, days from the left."""
    lines = ["Fall;Ort;Alter;Kosten;Tag"]
    for row in range(LINES):
        cost, day = f"{1100 + row % 100},50", f"{1 + row % 28:02}.{1 + row % 12:02}.2026"
        lines.append(f"F{row:05};{CITIES[row % 3]};{20 + row % 60},0;{cost};{day}")
    lines[7] = lines[7].replace("Köln", "köln").replace("Mühlheim", "mühlheim").replace("Bonn", "bonn")
    Path("besuche.csv").write_bytes("\n".join([*lines, ""]).encode("cp1252"))
    Path("clinic.toml").write_text(DECLARATION, encoding="utf-8")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a scheduler does: another process, its exit code, its output."""
    command = [sys.executable, "-m", "discreet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.usefixtures("messy")
def test_an_owner_with_a_file_as_the_office_exports_it():
    with pytest.raises(dp.errors.ParameterError, match="delimiter"):
        dp.Table(dp.Csv("besuche.csv", encoding="cp1252"), person="Fall", limits=dp.Limits(rows=1))
    clinic = dp.open("clinic.toml")
    found = clinic.tables["besuche"].check()
    assert found.rows == LINES
    assert "FOR THE OWNER ALONE" in str(found)
    assert {one.column for one in found.findings} == {"Ort"}  # the city in small letters, and nothing else
    answer = clinic.ask(
        "SELECT COUNT(*) AS n, AVG(Alter) AS age, AVG(Kosten) AS cost FROM besuche WHERE Tag >= '2026-01-01'",
        epsilon=2,
    )
    assert abs(answer["n"][0] - LINES) < 60
    assert abs(answer["age"][0] - 49.5) < 10
    assert abs(answer["cost"][0] - 1150) < 150
    assert "at most 1 row per person counted" in str(answer)
    clinic.close()


@pytest.mark.usefixtures("messy")
def test_a_scheduler_that_reads_exit_codes_and_json():
    question = "SELECT Ort, COUNT(*) AS n FROM besuche GROUP BY Ort"
    answered = run("query", question, "--epsilon", "2", "--format", "json")
    assert answered.returncode == 0, answered.stderr
    written = json.loads(answered.stdout)
    assert {row["Ort"] for row in written["rows"]} == set(CITIES)
    assert run("query", "SELECT * FROM besuche", "--epsilon", "0.1").returncode == 2
    assert run("query", question, "--epsilon", "2.5").returncode == 4
    assert run("check", "--strict").returncode == 6
    spent = run("ledger", "spent", "--json")
    assert spent.returncode == 0, spent.stderr
    assert json.loads(spent.stdout)
    Path("besuche.csv").rename("elsewhere.csv")
    missing = run("query", question, "--epsilon", "0.5")
    assert missing.returncode == 5
    assert "Traceback" not in missing.stderr
    Path("elsewhere.csv").rename("besuche.csv")
    Path("besuche.ledger").write_bytes(b"not a ledger")
    assert run("query", question, "--epsilon", "0.5").returncode == 3


def test_a_researcher_who_overlays_three_tradeoffs():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, ax = pyplot.subplots()
    for noise in (1, 2, 4):
        event = dp.events.Gaussian(noise_multiplier=noise)
        dp.accounting.tradeoff(event).plot(ax=ax, label=f"noise {noise}")
    named = [line for line in ax.lines if str(line.get_label()).startswith("noise")]
    assert len(named) == 3
    assert len({(line.get_color(), line.get_linestyle()) for line in named}) == 3
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text[:7] for text in texts if text.startswith("noise")] == ["noise 1", "noise 2", "noise 4"]
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    pyplot.close("all")


def test_a_teacher_who_draws_two_neighbors():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    laws = dp.Laplace(sensitivity=1, epsilon=1).plot(10, neighbor=11)
    drawn, ratio = laws.figure.axes
    assert len(drawn.lines) >= 2
    assert drawn.get_legend() is not None
    heights = [line.get_ydata() for line in ratio.lines]
    assert max(abs(one).max() for one in heights if len(one)) <= 1 + 1e-9  # the logarithm is at most epsilon
    votes = dp.mechanisms.Exponential(sensitivity=1, epsilon=1)
    chances = votes.probabilities([3, 5, 9])
    assert sum(chances) == pytest.approx(1)
    assert list(chances) == sorted(chances)
    pyplot.close("all")
