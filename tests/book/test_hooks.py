"""The site finds a place for every page."""

from __future__ import annotations

from pathlib import Path

import pytest

from book import hooks

PROOFS = sorted((Path(__file__).parents[2] / "docs" / "proofs").glob("*.md"))


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_every_proof_says_which_package_it_is_about(page):
    assert hooks._room(page) in hooks.ROOMS.values()


def test_a_proof_that_does_not_is_refused(tmp_path):
    page = tmp_path / "new.md"
    page.write_text("# New\n\nCode: `discreet.Curator.ask`.\n")
    with pytest.raises(ValueError, match="which code it is about"):
        hooks._room(page)
