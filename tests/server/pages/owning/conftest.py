"""A clinic whose owner may declare tables, for each test that changes it, and one for all others."""

from __future__ import annotations

import pytest

from server.owning.clinic import clinic_of_an_owner


@pytest.fixture(scope="session")
def kept_clinic(tmp_path_factory):
    with clinic_of_an_owner(tmp_path_factory.mktemp("owned"), may_amend=False) as found:
        yield found


@pytest.fixture
def clinic(tmp_path):
    with clinic_of_an_owner(tmp_path) as found:
        yield found
