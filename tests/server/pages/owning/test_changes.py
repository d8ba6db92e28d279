"""What waits for a second owner is for owners; without a proposal there is nothing to agree to."""

from __future__ import annotations

SOURCE = {"source": "file:stays.csv", "name": "stays", "first_line": "names"}
FIELDS = {"caps": {"epsilon": "9"}, "tables": SOURCE}


def test_only_owners_agree_or_withdraw(kept_clinic):
    for role in ("analyst", "auditor"):
        user = kept_clinic.user(f"not an owner {role}", role)
        for path in ("agree", "withdraw"):
            assert user.send(f"/pages/owner/{path}", proposal="0" * 32).status_code == 403


def test_S16_pages_of_owners_are_for_owners(kept_clinic):
    for role in ("analyst", "auditor"):
        user = kept_clinic.user(f"looking around {role}", role)
        for path in ("owner", "owner/caps", "owner/tables", "owner/check"):
            assert user.get(f"/pages/{path}").status_code == 403, path
        for path in ("caps", "caps/draft", "tables", "tables/draft", "tables/declare"):
            answer = user.send(f"/pages/owner/{path}", **FIELDS.get(path.split("/")[0], {}))
            assert answer.status_code == 403, path


def test_there_is_nothing_to_agree_to(kept_clinic):
    owner = kept_clinic.user("alone", "owner")
    answer = owner.send("/pages/owner/agree", proposal="0" * 32)
    assert answer.status_code == 404
    assert "there is no such proposal" in answer.text
    assert "Nothing waits" in owner.send("/pages/owner/withdraw", proposal="0" * 32).text
