"""Templates: all values escaped, all terms explained, all files in the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from discreet.server.pages import templates
from discreet.server.pages.glossary import TERMS
from discreet.server.pages.templates import STATIC, figure, rendered

PLACE = Path(templates.__file__).parent / "templates"


def test_a_value_is_escaped_and_a_missing_one_is_noticed():
    page = rendered("problem.html", problem={"code": "<b>", "message": "<i>\x1b[31m"}, session=None, here="")
    assert "&lt;b&gt;" in page
    assert "&lt;i&gt;\\x1b[31m" in page
    with pytest.raises(UndefinedError):
        rendered("problem.html", session=None, here="")


def test_no_template_switches_escaping_off():
    for path in PLACE.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup", text), path.name
        assert not re.search(r"\s[a-z-]+=\s*{{", text), f"{path.name}: an attribute without quotes"


def test_every_term_that_a_page_uses_is_explained():
    used = {
        name for path in PLACE.iterdir() for name in re.findall(r'term\("([^"]+)"', path.read_text("utf-8"))
    }
    assert used <= {*TERMS}
    assert len(used) > 15
    assert {*TERMS} - used <= {"rho", "bounds", "keys"}


def test_files_are_small_and_ours():
    assert {*STATIC} == {"completion.js", "dashboard.css", "dashboard.js", "mark.svg"}
    assert sum(len(content) for _, content in STATIC.values()) < 40_000
    for name in ("completion.js", "dashboard.js"):
        script = STATIC[name][1].decode()
        assert not re.search(r"innerHTML|eval|Function\(|document\.write|https?:", script)
    assert "url(" not in STATIC["dashboard.css"][1].decode()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "unknown"),
        (1234, "1,234"),
        (1234.56, "1,235"),
        (0.123456, "0.1235"),
        (2.0, "2"),
        (True, "True"),
        ("x", "x"),
        (float("inf"), "inf"),
        (-0.5, "-0.5"),
        (1e300, "1e+300"),
    ],
)
def test_figures(value, written):
    assert figure(value) == written
