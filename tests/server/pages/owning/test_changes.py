"""What waits for a second owner is for owners; without a proposal there is nothing to agree to."""

from __future__ import annotations


def test_only_owners_agree_or_withdraw(kept_clinic):
    for role in ("analyst", "auditor"):
        user = kept_clinic.user(f"not an owner {role}", role)
        for path in ("agree", "withdraw"):
            assert user.send(f"/pages/owner/{path}", proposal="0" * 32).status_code == 403


def test_there_is_nothing_to_agree_to(kept_clinic):
    owner = kept_clinic.user("alone", "owner")
    answer = owner.send("/pages/owner/agree", proposal="0" * 32)
    assert answer.status_code == 404
    assert "there is no such proposal" in answer.text
    assert "Nothing waits" in owner.send("/pages/owner/withdraw", proposal="0" * 32).text
