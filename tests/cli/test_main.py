"""The program: help that teaches, refusals in one line, no traceback."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from canary import COUNT
from cli.program import discreet, refused
from discreet import __version__
from discreet.cli.main import COMMANDS
from discreet.errors import BudgetExceeded

main_module = importlib.import_module("discreet.cli.main")


def test_python_dash_m_discreet_runs():
    done = subprocess.run(
        [sys.executable, "-m", "discreet", "account", "--noise-multiplier", "1", "--delta", "1e-5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "epsilon  4.37718" in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "discreet", "account", "--noise-multiplier", "0", "--delta", "1e-5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    expected = "discreet account: error: --noise-multiplier is not positive; allowed: greater than 0\n"
    assert done.stderr == expected


def test_the_program_is_installed_under_its_name():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"discreet": "discreet.cli:main"}


def test_help_lists_the_commands():
    found = discreet("--help")
    assert found.code == 0
    for command in COMMANDS:
        assert command.name in found.output
        assert command.summary.split(":")[0] in " ".join(found.output.split())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_help_of_a_command_teaches_by_examples(command):
    found = discreet(f"{command.name} --help")
    assert found.code == 0
    assert command.lesson.strip() in found.output


def test_the_version():
    found = discreet("--version")
    assert (found.code, found.output) == (0, f"discreet {__version__}\n")


def test_the_reference_lists_every_command_and_every_exit_code():
    text = (Path(__file__).parents[2] / "docs" / "reference.md").read_text().split("## The command line")[1]
    assert [name for name in (f"| `{one.name}` |" for one in COMMANDS) if name not in text] == []
    told = set(re.findall(r"^\| (\d+)(?:, (\d+))? \|", text, re.MULTILINE))
    written = set(re.findall(r"^(\d+) {3,}", str(main_module.__doc__), re.MULTILINE))
    written |= set(re.findall(r"^(130|141) ", str(main_module.__doc__), re.MULTILINE))
    assert {code for pair in told for code in pair if code} == written
    helped = set(re.findall(r"\d+", discreet("--help").output.split("Exit codes")[1]))
    assert helped | {"1"} == written


def test_without_a_command_and_with_an_unknown_one():
    assert "COMMAND" in refused("")
    assert "invalid choice" in refused("unheard")


def test_what_is_typed_in_the_wrong_place_is_not_repeated():
    """It may be a question, and a question may hold what nobody else should read."""
    question = COUNT
    assert "invalid choice (choose from" in refused("", question)
    assert refused("query --epsil 1", question) == "there is no option --epsil"
    assert refused("query --epsilon 1 --epsil=1", question) == "there is no option --epsil"
    assert "put the question in quotes" in refused(f"query --epsilon 1 {question}")
    assert "not a number" in refused("preview --epsilon 1 x --rows", question)
    assert "invalid choice" in refused("query --epsilon 1 x --format", question)


def test_any_refusal_of_the_package_is_one_line(monkeypatch):
    from discreet import accounting

    def refusing(*_, **__):
        raise BudgetExceeded("nothing is left")

    monkeypatch.setattr(accounting, "epsilon", refusing)
    assert refused("account --noise-multiplier 1 --delta 1e-5", code=4) == "nothing is left"


@pytest.mark.parametrize("error", [OverflowError, ZeroDivisionError, MemoryError])
def test_numbers_out_of_reach_are_no_traceback(error, monkeypatch):
    from discreet import accounting

    def failing(*_, **__):
        raise error

    monkeypatch.setattr(accounting, "epsilon", failing)
    assert "too large or too small" in refused("account --noise-multiplier 1 --delta 1e-5")


def test_an_interruption_is_no_traceback(monkeypatch):
    from discreet import accounting

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(accounting, "epsilon", interrupted)
    found = discreet("account --noise-multiplier 1 --delta 1e-5")
    assert (found.code, found.output, found.errors) == (130, "", "")


def test_help_loads_nothing_heavy():
    script = (
        "import sys, contextlib, io\n"
        "from discreet.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['account', '--help'])\n"
        "print('scipy' in sys.modules, 'matplotlib' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
