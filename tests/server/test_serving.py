"""Where a server listens, and how it starts and stops."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import discreet as dp
from discreet.errors import LedgerMismatch, ParameterError, ServerRefused
from discreet.server.pool import Pool
from discreet.server.service_limits import ServiceLimits
from discreet.server.serving import Address, serve
from server.service import serving, write_small_clinic


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


@pytest.mark.slow
def test_S9_other_machines_are_served_over_tls(tmp_path):
    write_small_clinic(tmp_path)
    certificate, private_key = write_certificate(tmp_path)
    typed = ("--certificate", str(certificate), "--private-key", str(private_key))
    with serving(tmp_path, *typed) as service:
        assert service.url.startswith("https://")
        with dp.connect(service.url, key=service.key("ana"), verify=str(certificate)) as curator:
            assert len(curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)) == 1
            response = curator._http.get("/health")
            assert response.headers["strict-transport-security"] == "max-age=31536000"
        # the control: a certificate that nobody vouches for is not trusted
        with dp.connect(service.url, key=service.key("ana")) as stranger, pytest.raises(ServerRefused):
            stranger.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)


def write_certificate(directory: Path) -> tuple[Path, Path]:
    """Write a certificate for the loopback that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = directory / "tls.crt", directory / "tls.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    return files
