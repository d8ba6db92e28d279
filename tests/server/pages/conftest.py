"""One clinic for all tests of pages; each logs in with keys of its own."""

from __future__ import annotations

import pytest

from server.pages.dashboard import clinic_with_pages


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory):
    with clinic_with_pages(tmp_path_factory.mktemp("dashboard")) as found:
        yield found
