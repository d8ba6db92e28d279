"""Caps: seen by name, drafted, changed with a reason, and proposed where two owners must agree."""

from __future__ import annotations

import re

from server.owning.clinic import amendments, ask_for_two, copies
from server.pages.dashboard import Visitor


def digest(owner) -> str:
    return re.search(r'name="digest" value="([0-9a-f]{64})"', owner.get("/pages/owner/caps").text)[1]


def together(clinic, *names):
    """Owners in browsers of their own, at one server."""
    app = clinic.app()
    found = []
    for name in names:
        visitor = Visitor(app, "http://127.0.0.1:8080", clinic.runner)
        visitor.log_in(clinic.keys.create(name, role="owner")[1])
        found.append(visitor)
    return found


def test_everybody_with_a_key_is_seen_with_what_is_left(kept_clinic):
    owner = kept_clinic.user("olga", "owner")
    kept_clinic.keys.create("newcomer", role="analyst")
    ana = kept_clinic.user("ana")
    ana.send("/pages/ask", question="SELECT COUNT(*) AS n FROM visits", epsilon="10")
    page = owner.get("/pages/owner/caps").text
    rows = {
        name: re.findall(r'<td class="number">(.*?)</td>', row)
        for name, row in re.findall(r'<tr><th scope="row">(\w+)</th>(.*?)</tr>', page)
    }
    assert rows["ana"] == ["10", "40", "30"]
    assert rows["newcomer"] == ["0", "40", "40"]


def test_without_leave_a_change_is_shown_for_copying(kept_clinic):
    owner = kept_clinic.user("copying", "owner")
    page = owner.send("/pages/owner/caps/draft", each_epsilon="55", digest=digest(owner)).text
    assert "per_analyst = { epsilon = 55 }" in page
    assert "discreet ledger amend" in page
    assert "Change and record" not in page
    answer = owner.send("/pages/owner/caps", each_epsilon="55", reason="x", digest=digest(owner))
    assert answer.status_code == 422
    assert copies(kept_clinic.file.parent) == []


def test_S16_a_cap_is_raised_with_a_reason(clinic):
    (owner,) = together(clinic, "olga")
    seen = digest(owner)
    refused = owner.send("/pages/owner/caps", each_epsilon="55", reason=" ", digest=seen)
    assert refused.status_code == 422
    assert "reason" in refused.text
    assert "Nothing was changed" in refused.text
    done = owner.send("/pages/owner/caps", each_epsilon="55", reason="for the spring", digest=seen)
    assert "Changed, and on the record" in done.text
    (copy,) = copies(clinic.file.parent)
    assert f">{copy.name}<" in done.text
    (entry,) = amendments(clinic.file.parent)
    assert (entry["reason"], entry["agreed"]) == ("for the spring", ["olga"])
    assert "for the spring" in owner.get("/pages/ledger").text
    assert "now 55" in owner.get("/pages/owner/caps").text
    again = owner.send("/pages/owner/caps", each_epsilon="60", reason="again", digest=seen)
    assert "since you looked at it" in again.text


def test_S16_two_owners_in_two_browsers(clinic):
    ask_for_two(clinic.file.parent)
    olga, paul = together(clinic, "olga", "paul")
    page = olga.get("/pages/owner/caps").text
    assert "Propose to a second owner" in page
    proposed = olga.send("/pages/owner/caps", each_epsilon="55", reason="spring", digest=digest(olga))
    assert "Proposed" in proposed.text
    assert "Agree: change it" not in proposed.text, "not to one's own"
    waiting = paul.get("/pages/owner/caps").text
    assert "per_analyst = { epsilon = 55 }" in waiting
    identifier = re.search(r'name="proposal" value="([0-9a-f]{32})"', waiting)[1]
    assert "two owners must agree" in olga.send("/pages/owner/agree", proposal=identifier).text
    assert "Changed, and on the record" in paul.send("/pages/owner/agree", proposal=identifier).text
    assert amendments(clinic.file.parent)[-1]["agreed"] == ["olga", "paul"]
    assert paul.send("/pages/owner/agree", proposal=identifier).status_code == 404


def test_a_proposal_is_withdrawn(clinic):
    ask_for_two(clinic.file.parent)
    olga, paul = together(clinic, "olga", "paul")
    proposed = olga.send("/pages/owner/caps", epsilon="5000", reason="spring", digest=digest(olga)).text
    identifier = re.search(r'name="proposal" value="([0-9a-f]{32})"', proposed)[1]
    assert "Nothing waits" in olga.send("/pages/owner/withdraw", proposal=identifier).text
    assert paul.send("/pages/owner/agree", proposal=identifier).status_code == 404


def test_what_is_not_a_cap_is_refused_in_the_page(kept_clinic):
    owner = kept_clinic.user("strict", "owner")
    for fields in ({}, {"epsilon": "-1"}, {"epsilon": "x"}, {"rho": "1"}, {"each_epsilon": "nan"}):
        answer = owner.send("/pages/owner/caps/draft", digest=digest(owner), **fields)
        assert answer.status_code in {400, 422}, fields
        assert "Nothing was changed" in answer.text
