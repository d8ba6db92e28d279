"""A clinic for tests that leave it as it is, and one for each that changes it."""

from __future__ import annotations

import pytest

from server.owning.clinic import make_clinic


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    directory = tmp_path_factory.mktemp("kept")
    make_clinic(directory)
    return directory


@pytest.fixture
def clinic(tmp_path):
    make_clinic(tmp_path)
    return tmp_path
