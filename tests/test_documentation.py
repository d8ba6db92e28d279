"""Every example in the documentation runs: docstrings, README and pages."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from matplotlib import pyplot

import discreet

ROOT = Path(__file__).parents[1]
MODULES = sorted(module.name for module in pkgutil.walk_packages(discreet.__path__, "discreet."))
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("name", ["discreet", *MODULES])
def test_docstring_examples(name):
    failures, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_run(page, tmp_path, monkeypatch):
    """Python blocks of a page run in order, in one namespace; `>>>` blocks also check what they print."""
    monkeypatch.chdir(tmp_path)
    pyplot.close("all")
    namespace: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, namespace, page.name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            namespace.update(test.globs)
            assert runner.failures == 0
        else:
            exec(compile(block, str(page), "exec"), namespace)  # noqa: S102


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http", "mailto")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
