"""Without the libraries for tables: what needs them says what to install, and all else works."""

from __future__ import annotations

import subprocess
import sys
from unittest import mock

import pytest

from discreet.data.libraries import LIBRARIES, require_libraries
from discreet.errors import MissingExtra
from front.declared_clinic import DECLARATION

MISSING = [*LIBRARIES, "pandas", "sklearn"]
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({MISSING!r})); import discreet as dp\n"


def run_without_them(code: str) -> str:
    """Run code where they cannot be imported, in a process of its own; return what it printed."""
    done = subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_is_missed(library):
    with mock.patch.dict(sys.modules, {library: None}), pytest.raises(MissingExtra) as missed:
        require_libraries()
    assert str(missed.value) == f"this needs {library}: pip install 'discreet[tables]'"


def test_they_are_here():
    require_libraries()


@pytest.mark.parametrize(
    "code",
    [
        "dp.Table('visits.csv', person='patient', limits=dp.Limits(rows=1))",
        "dp.Curator",
        "from discreet.data.bounding import rows",
    ],
)
def test_tables_say_what_to_install(code):
    said = run_without_them(code)
    assert said.endswith("MissingExtra: this needs duckdb: pip install 'discreet[tables]'\n"), said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["open", "ranges", "cdf", "marginals", "connect"])
def test_names_that_are_about_tables_say_what_to_install(name):
    said = run_without_them(f"dp.{name}")
    assert said.endswith("MissingExtra: this needs duckdb: pip install 'discreet[tables]'\n"), said


@pytest.mark.parametrize("words", [["query", "SELECT 1", "--epsilon", "1"], ["demo", "--rows", "1000"]])
def test_the_shell_says_what_to_install(words, tmp_path):
    file = tmp_path / "clinic.toml"
    file.write_text(DECLARATION)
    more = ["--file", str(file)] if words[0] == "query" else []
    said = run_without_them(f"from discreet.cli import main\nmain({[*words, *more]})")
    assert "pip install 'discreet[tables]'" in said
    assert "Traceback" not in said


def test_estimators_say_what_to_install():
    said = run_without_them("dp.learning.LogisticRegression")
    assert said.endswith("MissingExtra: this needs scikit-learn: pip install 'discreet[learn]'\n"), said


@pytest.mark.slow
def test_mechanisms_accounting_and_audits_need_none_of_them():
    said = run_without_them(
        "count = dp.Laplace(sensitivity=1, epsilon=1)\n"
        "assert isinstance(count.release(10), int)\n"
        "run = dp.events.PoissonSampled(dp.events.Gaussian(noise_multiplier=4), rate=0.01) * 100\n"
        "assert float(dp.accounting.epsilon(run, delta=1e-5)) < 1\n"
        "assert dp.audit.check_mechanism(count, draws=1000).passed\n"
        "assert dp.workloads.plan(dp.workloads.AllRanges(8), rho=0.5).release([3] * 8)\n"
        "assert dp.stability.median([1, 2, 3], lower=0, upper=4)\n"
        "assert dp.Budget(epsilon=1)\n"
        "from discreet.cli import main\n"
        "main(['account', '--noise-multiplier', '4', '--steps', '100', '--delta', '1e-5'])\n"
        "print('all of it')"
    )
    assert said.endswith("all of it\n"), said
