"""What the package requires, and all that this brings."""

from __future__ import annotations

import pytest
from book.requirements import RELEASED, brought_by, requirements_of
from packaging.requirements import Requirement


def test_the_core_needs_no_engine():
    assert {one.name for one in requirements_of()} == {"numpy", "scipy", "cryptography"}
    assert not brought_by(requirements_of()).keys() & {"duckdb", "ibis-framework", "pyarrow", "pandas"}


def test_extras_contain_what_they_name():
    assert {one.name for one in requirements_of("serve")} > {one.name for one in requirements_of("tables")}
    assert "discreet" not in {one.name for extra in RELEASED for one in requirements_of(extra)}


def test_what_is_brought_is_complete():
    brought = brought_by(requirements_of("tables", "plot"))
    assert {"duckdb", "ibis-framework", "sqlglot", "matplotlib", "pyarrow"} <= brought.keys()
    for _, needs in brought.values():
        assert needs <= brought.keys()


def test_what_is_not_installed_is_named():
    with pytest.raises(LookupError, match="no-such-library is required"):
        brought_by([Requirement("No_Such.library>=1")])
