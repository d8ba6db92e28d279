"""The same question keeps its identity across versions: a stored answer is found, and not paid for twice."""

from __future__ import annotations

import json

from queries.stored_questions import QUESTIONS, STORED, identities, open_clinic


def test_questions_have_the_identities_they_had_before(tmp_path):
    clinic = open_clinic(tmp_path / "clinic.ledger")
    stored, found = json.loads(STORED.read_text(encoding="utf-8")), identities(clinic)
    clinic.close()
    assert found.keys() == stored.keys()
    changed = {
        (offer, str(question))
        for offer, hashes in stored.items()
        for question, before, now in zip(QUESTIONS, hashes, found[offer], strict=False)
        if before != now
    }
    assert not changed
    assert [len(one) for one in found.values()] == [len(one) for one in stored.values()]
