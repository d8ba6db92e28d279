"""All versions of the site in one folder: listed, chosen on every page, without a web server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from book.versions import add_version, list_versions

from server.browser.conftest import chromium  # noqa: F401

ROOT = Path(__file__).parents[2]
PAGE = """<!doctype html><title>{title}</title>
<div class="md-header__title">discreet</div><article class="md-content__inner">{title}</article>
<script src="{up}javascripts/versions.js"></script>
"""


def write_site(folder: Path, *pages: str) -> Path:
    """Write a site as the theme would, as far as the selector can tell."""
    (folder / "javascripts").mkdir(parents=True)
    script = (ROOT / "docs" / "javascripts" / "versions.js").read_text()
    (folder / "javascripts" / "versions.js").write_text(script)
    for page in ("index.html", *pages):
        place = folder / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(PAGE.format(title=page, up="../" * page.count("/")))
    return folder


@pytest.fixture
def versions(tmp_path):
    """Three versions, of which the oldest lacks a page."""
    folder = tmp_path / "all versions"
    add_version(write_site(tmp_path / "old"), folder, "0.9.0")
    add_version(write_site(tmp_path / "new", "guides/analyst.html"), folder, "0.10.0")
    add_version(write_site(tmp_path / "middle", "guides/analyst.html"), folder, "0.9.1")
    return folder


def test_the_newest_is_first_by_number_not_by_letter(versions):
    (versions / "drafts").mkdir()
    assert list_versions(versions) == ["0.10.0", "0.9.1", "0.9.0"]
    shown = (versions / "index.html").read_text()
    assert (
        shown.index("0.10.0/index.html") < shown.index("0.9.1/index.html") < shown.index("0.9.0/index.html")
    )


def test_pages_of_each_version_are_listed(versions):
    text = (versions / "versions.js").read_text()
    listed = json.loads(text.removeprefix("showVersions(").removesuffix(");\n"))
    assert {one["name"]: one["pages"] for one in listed} == {
        "0.10.0": ["guides/analyst.html", "index.html"],
        "0.9.1": ["guides/analyst.html", "index.html"],
        "0.9.0": ["index.html"],
    }


def test_the_same_version_again_replaces_what_was_there(versions, tmp_path):
    add_version(write_site(tmp_path / "again"), versions, "0.9.1")
    assert not (versions / "0.9.1" / "guides").exists()
    assert list_versions(versions) == ["0.10.0", "0.9.1", "0.9.0"]


def test_the_site_has_the_scripts_and_none_of_another_place():
    settings = (ROOT / "mkdocs.yml").read_text()
    for script in ("javascripts/versions.js", "javascripts/frame-worker.js"):
        assert script in settings
        assert "://" not in (ROOT / "docs" / script).read_text()


@pytest.mark.slow
def test_the_selector_works_from_files(versions, tmp_path, chromium):  # noqa: F811
    page = chromium.new_page()
    page.goto((versions / "0.9.1" / "guides" / "analyst.html").as_uri())
    page.wait_for_selector(".versions")
    assert page.locator(".versions option").all_inner_texts() == ["0.10.0", "0.9.1", "0.9.0"]
    assert page.locator(".versions option:checked").inner_text() == "0.9.1"
    assert page.locator(".outdated").inner_text() == (
        "This page is about version 0.9.1. The newest is version 0.10.0."
    )
    page.select_option(".versions", label="0.10.0")
    page.wait_for_url("**/0.10.0/guides/analyst.html")
    page.wait_for_selector(".versions")
    assert page.locator(".outdated").count() == 0
    page.select_option(".versions", label="0.9.0")  # which lacks the page
    page.wait_for_url("**/0.9.0/index.html")
    page.goto((write_site(tmp_path / "alone") / "index.html").as_uri())
    page.wait_for_load_state()
    assert page.locator(".versions").count() == 0
    page.close()
