"""The site lists every proof under the package that its line ``Code:`` names first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))


def package_of(text):
    found = re.search(r"^Code: `discreet\.(\w+)", text, flags=re.MULTILINE)
    return found and found[1]


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_every_proof_names_a_package_first(page):
    package = package_of(page.read_text(encoding="utf-8"))
    assert package
    assert (ROOT / "src" / "discreet" / package).is_dir()


def test_a_class_is_not_a_package():
    assert not (ROOT / "src" / "discreet" / package_of("Code: `discreet.Curator.ask`.")).is_dir()
