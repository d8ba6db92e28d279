"""Where a server listens, and how it starts and stops."""

from __future__ import annotations

import asyncio

import pytest

from discreet.errors import LedgerMismatch, ParameterError
from discreet.server.pool import Pool
from discreet.server.service_limits import ServiceLimits
from discreet.server.serving import Address, serve
from server.service import write_small_clinic


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_the_loopback_needs_no_encryption(host):
    assert not Address(host=host).is_encrypted


EVERYWHERE = "0.0.0.0"  # noqa: S104


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.168.0.7", "clinic.example", "", "127.0.0.1.evil"])
def test_S9_other_machines_are_served_only_with_tls(host):
    with pytest.raises(ParameterError, match="in the clear"):
        Address(host=host)


def test_both_files_of_tls_and_a_port(tmp_path):
    with pytest.raises(ParameterError):
        Address(certificate=tmp_path / "tls.crt")
    with pytest.raises(FileNotFoundError):
        Address(certificate=tmp_path / "tls.crt", private_key=tmp_path / "tls.key")
    with pytest.raises(ParameterError):
        Address(port=65536)
    assert Address(host="::1").url(80) == "http://[::1]:80"


@pytest.mark.slow
def test_a_declaration_that_cannot_be_opened_is_said_as_a_curator_says_it(tmp_path):
    write_small_clinic(tmp_path)
    file = tmp_path / "clinic.toml"
    limits = ServiceLimits(workers=1)
    said = []
    serve(file, Address(port=0), limits, said=said.append, check_only=True)
    assert said[0].startswith("ready to serve clinic.toml on http://127.0.0.1:")
    file.write_text(file.read_text().replace("epsilon = 1000", "epsilon = 1001"))
    with pytest.raises(LedgerMismatch, match="budget"):
        serve(file, Address(port=0), limits, said=said.append, check_only=True)
    file.write_text("[ledger]")
    with pytest.raises(ParameterError):
        asyncio.run(Pool(file, limits).start())
