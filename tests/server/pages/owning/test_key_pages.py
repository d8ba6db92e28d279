"""The owner's page: keys are created and revoked, and end what they opened."""

from __future__ import annotations

import re


def made_key(answer) -> str:
    return re.search(r"discreet_[a-z2-7]{8}_[\w-]{43}", answer.text)[0]


def test_a_key_is_created_shown_once_and_opens_a_session(dashboard):
    owner = dashboard.user("maker", "owner")
    key = made_key(owner.send("/pages/owner/create", name="newcomer", role="analyst", days="30"))
    assert key not in owner.get("/pages/owner").text
    assert key[-43:] not in dashboard.log.getvalue()
    assert dashboard.visitor().log_in(key).headers["location"] == "/pages/data"


def test_S10_a_revoked_key_ends_the_session_at_once(dashboard):
    owner = dashboard.user("ender", "owner")
    kept, key = dashboard.keys.create("ended", role="analyst")
    user = dashboard.visitor()
    user.log_in(key)
    assert user.get("/pages/data").status_code == 200
    answer = owner.send("/pages/owner/revoke", which=kept.prefix, reason="left the project")
    assert f"Revoked: {kept.prefix} of ended" in answer.text
    assert user.get("/pages/data").headers["location"] == "/pages/login"
    assert user.log_in(key).status_code == 401


def test_one_who_ends_their_own_key_is_led_out(dashboard):
    owner = dashboard.user("last act", "owner")
    answer = owner.send("/pages/owner/revoke", which="last act", reason="done")
    assert (answer.status_code, answer.headers["location"]) == (303, "/pages/login")


def test_a_key_makes_none_that_may_do_or_lasts_more(dashboard):
    narrow = dashboard.user("narrow", "owner", scopes=["keys", "tables", "spent"], days=10)
    before = len(dashboard.keys.all())
    for fields in (
        {"role": "owner", "days": "1"},
        {"role": "analyst", "days": "1"},
        {"role": "nobody", "days": "1"},
        {"role": "auditor", "days": "x"},
    ):
        assert narrow.send("/pages/owner/create", name="more", **fields).status_code in {400, 422}
    wide = dashboard.user("ends soon", "owner", days=10)
    for days in ("11", "0", "-1", "99999"):
        assert wide.send("/pages/owner/create", name="longer", role="owner", days=days).status_code in {
            400,
            422,
        }
    assert len(dashboard.keys.all()) == before + 1
    assert wide.send("/pages/owner/create", name="shorter", role="owner", days="9").status_code == 200


def test_refusals_are_shown_in_the_page(dashboard):
    owner = dashboard.user("strict", "owner")
    answer = owner.send("/pages/owner/revoke", which="nobody at all", reason="x")
    assert answer.status_code == 422
    assert "is neither the prefix nor the name of a key" in answer.text
    assert owner.send("/pages/owner/revoke", which="strict", reason=" ").status_code == 422
    assert owner.get("/pages/owner").status_code == 200


def test_the_words_for_keys_are_for_owners(dashboard):
    key = dashboard.keys.create("programmatic", role="analyst")[1]
    visitor = dashboard.visitor()
    header = {"authorization": f"Bearer {key}"}
    assert visitor.get("/v1/keys", headers=header).status_code == 403
    body = {"name": "x", "role": "owner"}
    assert visitor.post("/v1/keys", headers=header, json=body).status_code == 403
    revoked = {"which": "programmatic", "reason": "x"}
    assert visitor.post("/v1/keys/revoke", headers=header, json=revoked).status_code == 403
    owner = {"authorization": f"Bearer {dashboard.keys.create('programs owner', role='owner')[1]}"}
    shown = visitor.get("/v1/keys", headers=owner).text
    assert dashboard.keys.all()[0].digest not in shown
    made = visitor.post("/v1/keys", headers=owner, json={**body, "role": "analyst", "days": 5}).json()
    assert dashboard.keys.find(made["key"]).name == "x"
