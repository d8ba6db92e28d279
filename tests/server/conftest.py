"""One server for all tests that leave it as it is."""

from __future__ import annotations

import pytest

from server.service import serving, write_small_clinic


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    directory = tmp_path_factory.mktemp("clinic")
    write_small_clinic(directory)
    with serving(directory) as found:
        yield found
