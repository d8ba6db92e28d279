"""Keys: shown once, kept as hashes, ended at once."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from discreet.errors import LedgerUnavailable, ParameterError
from discreet.server import keys as module
from discreet.server.keys import ROLES, SCOPES, KeyFile, keys_beside


@pytest.fixture
def file(tmp_path):
    return KeyFile(tmp_path / "clinic.keys")


def test_a_key_is_found_and_only_its_hash_is_kept(file, tmp_path):
    key, text = file.create("ana", role="analyst")
    assert file.find(text) == key
    assert key.digest == hashlib.sha256(text.encode()).hexdigest()
    content = (tmp_path / "clinic.keys").read_text()
    secret = text.split("_", 2)[2]
    assert len(secret) == 43
    assert secret not in content
    assert key.digest in content
    assert (tmp_path / "clinic.keys").stat().st_mode & 0o777 == 0o600


def test_a_key_says_from_which_one_it_was_made(file, tmp_path):
    olga, _ = file.create("olga", role="owner")
    made, _ = file.create_under(olga, name="paul", role="owner", days=9)
    further, _ = file.create_under(made, name="paula", role="owner", days=5)
    known = KeyFile(tmp_path / "clinic.keys")
    assert [known.first_maker(one) for one in (olga, made, further)] == ["olga"] * 3
    assert known.all()[1].maker == olga.prefix
    content = (tmp_path / "clinic.keys").read_text()
    (tmp_path / "clinic.keys").write_text(content.replace(', "maker": ""', ""))
    assert known.first_maker(further) is None, "a line from before does not say"


def test_a_key_of_an_unknown_maker_is_damage(file, tmp_path):
    file.create("olga", role="owner")
    content = (tmp_path / "clinic.keys").read_text()
    (tmp_path / "clinic.keys").write_text(content.replace('"maker": ""', '"maker": "aaaaaaaa"'))
    with pytest.raises(LedgerUnavailable):
        file.all()


def test_keys_differ_in_all_their_parts(file):
    made = [file.create("ana", role="analyst") for _ in range(20)]
    assert len({key.prefix for key, _ in made}) == 20
    assert len({text.split("_", 2)[2] for _, text in made}) == 20
    assert len({text[-10:] for _, text in made} | {text.split("_", 2)[2][:10] for _, text in made}) == 40


@pytest.mark.parametrize("change", [lambda text: text[:-1] + ("A" if text[-1] != "A" else "B"), str.upper])
def test_what_is_almost_a_key_is_none(file, change):
    _, text = file.create("ana", role="analyst")
    assert file.find(change(text)) is None
    for other in ("", "discreet_", text[:-1], f"{text} ", f"{text}\n", "ü" * 61, "\ud800"):
        assert file.find(other) is None


def test_a_revoked_key_is_refused_by_every_reader_at_once(file, tmp_path):
    first, text = file.create("ana", role="analyst")
    second, other = file.create("ana", role="analyst")
    reader = KeyFile(tmp_path / "clinic.keys")
    assert reader.find(text)
    file.revoke(first.prefix, reason="lost")
    assert reader.find(text) is None
    assert reader.find(other) == second
    file.revoke("ana", reason="left")
    assert reader.find(other) is None
    assert [bool(one.revoked) for one in reader.all()] == [True, True]
    with pytest.raises(ParameterError):
        file.revoke("ana", reason="again")


def test_S15_a_key_expires_and_a_clock_set_back_revives_nothing(file, monkeypatch):
    now = datetime.now(UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, zone=None):
            return now

    monkeypatch.setattr(module, "datetime", Clock)
    _, text = file.create("ana", role="analyst", days=1)
    assert file.find(text)
    now += timedelta(days=1, seconds=1)
    assert file.find(text) is None
    now -= timedelta(days=1)
    assert file.find(text) is None
    # the control: a process that remembers nothing believes the clock
    assert KeyFile(file._path).find(text)


def test_a_crash_in_the_middle_of_a_line_loses_nobody_and_lets_nobody_in(file, tmp_path):
    _, text = file.create("ana", role="analyst")
    with (tmp_path / "clinic.keys").open("ab") as torn:
        torn.write(b'{"kind": "revoked", "prefix": "')
    assert file.find(text)
    _, other = file.create("bea", role="auditor")
    assert file.find(text)
    assert file.find(other)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"{}\n",
        b'{"kind": "revoked", "time": "", "prefix": "unknown"}\n',
        b'{"kind": "created", "time": "", "prefix": "aaaaaaaa", "name": "x", "role": "analyst", '
        b'"scopes": ["ledger"], "sha256": "", "expires": "9"}\n',
    ],
)
def test_a_damaged_file_lets_nobody_in(file, tmp_path, line):
    _, text = file.create("ana", role="analyst")
    with (tmp_path / "clinic.keys").open("ab") as damaged:
        damaged.write(line)
    with pytest.raises(LedgerUnavailable):
        file.find(text)


def test_no_file_is_no_key(file):
    assert file.all() == []
    assert file.find("discreet_aaaaaaaa_" + 43 * "A") is None


def test_roles_and_scopes(file):
    assert set(ROLES["owner"]) == set(SCOPES)
    assert "ask" not in ROLES["auditor"]
    assert "ledger" not in ROLES["analyst"]
    key, _ = file.create("bea", role="analyst", scopes=["preview"])
    assert key.scopes == ("preview",)
    for wrong in (
        {"role": "root"},
        {"role": "analyst", "scopes": ["ledger"]},
        {"role": "analyst", "scopes": []},
        {"role": "analyst", "days": 0},
    ):
        with pytest.raises(ParameterError):
            file.create("bea", **wrong)
    for name in ("", " ", "a\nb", "x" * 201):
        with pytest.raises(ParameterError):
            file.create(name, role="analyst")


def test_keys_are_beside_the_declaration(tmp_path):
    assert keys_beside(tmp_path / "clinic.toml") == tmp_path / "clinic.keys"


@pytest.mark.slow
def test_processes_that_create_at_once_lose_no_key(tmp_path):
    code = (
        "import sys; from pathlib import Path; from discreet.server.keys import KeyFile\n"
        "for _ in range(5): print(KeyFile(Path(sys.argv[1])).create('ana', role='analyst')[1])"
    )
    place = os.fspath(tmp_path / "clinic.keys")
    processes = [
        subprocess.Popen([sys.executable, "-c", code, place], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    texts = [line for process in processes for line in process.communicate()[0].split()]
    file = KeyFile(tmp_path / "clinic.keys")
    assert len(texts) == 15
    assert all(file.find(text) for text in texts)


def test_a_key_is_found_again_while_it_is_valid(file):
    kept, text = file.create("ana", role="analyst")
    assert file.find_again(file.find(text)) == kept
    assert file.find_again(replace(kept, digest="0" * 64)) is None
    assert file.find_again(replace(kept, prefix="aaaaaaaa")) is None
    file.revoke(kept.prefix, reason="left")
    assert file.find_again(kept) is None
