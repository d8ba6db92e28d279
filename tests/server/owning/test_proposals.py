"""Two owners are two people: who made a key could use it, whatever name is on it."""

from __future__ import annotations

import pytest

from discreet.errors import RequestRefused
from discreet.server.catalogue import ServiceRefusal
from discreet.server.keys import KeyFile
from discreet.server.owning.proposals import Proposals

MESSAGE = {"word": "amend", "reason": "more for the spring"}


@pytest.fixture
def keys(tmp_path):
    return KeyFile(tmp_path / "clinic.keys")


def owner(keys, name, maker=None, days=9):
    if maker is None:
        return keys.create(name, role="owner")[0]
    return keys.create_under(maker, name=name, role="owner", days=days)[0]


def _old(line):
    """A line from before makers were noted."""
    return line.replace(', "maker": ""', "")


def test_S16_another_owner_agrees_to_what_was_proposed(keys):
    proposals = Proposals(keys)
    olga, paul = owner(keys, "olga"), owner(keys, "paul")
    waiting = proposals.add(olga, MESSAGE, "epsilon = 9")
    told = waiting.to_object()
    assert (told["by"], told["text"]) == ("olga", "epsilon = 9")
    assert proposals.agreed(paul, waiting.identifier) is waiting
    proposals.drop(waiting.identifier)
    with pytest.raises(ServiceRefusal):
        proposals.agreed(paul, waiting.identifier)


def test_S16_nobody_is_the_second_owner_of_their_own_proposal(keys):
    proposals = Proposals(keys)
    olga = owner(keys, "olga")
    waiting = proposals.add(olga, MESSAGE, "epsilon = 9").identifier
    made = owner(keys, "made up", olga)
    further = owner(keys, "made up again", made, days=5)
    for key in (olga, owner(keys, "olga"), made, further):
        with pytest.raises(RequestRefused, match="two owners must agree"):
            proposals.agreed(key, waiting)
    theirs = proposals.add(further, MESSAGE, "epsilon = 9").identifier
    with pytest.raises(RequestRefused):
        proposals.agreed(olga, theirs)


def test_S16_a_key_that_does_not_say_who_made_it_is_nobodys(keys, tmp_path):
    proposals = Proposals(keys)
    olga, paul = owner(keys, "olga"), owner(keys, "paul")
    file = tmp_path / "clinic.keys"
    first, second = file.read_text().splitlines()
    waiting = proposals.add(olga, MESSAGE, "").identifier
    assert proposals.agreed(paul, waiting), "the control: both say so"
    for lines in ([first, _old(second)], [_old(first), second], [_old(first), _old(second)]):
        file.write_text("".join(f"{line}\n" for line in lines))
        with pytest.raises(RequestRefused):
            proposals.agreed(paul, waiting)


def test_S10_a_proposal_ends_with_the_key_of_its_proposer(keys):
    proposals = Proposals(keys)
    olga, paul = owner(keys, "olga"), owner(keys, "paul")
    waiting = proposals.add(olga, MESSAGE, "").identifier
    keys.revoke(olga.prefix, reason="stolen")
    assert proposals.all() == []
    with pytest.raises(ServiceRefusal):
        proposals.agreed(paul, waiting)


def test_proposals_are_bounded(keys):
    proposals = Proposals(keys)
    olga = owner(keys, "olga")
    added = [proposals.add(olga, MESSAGE, str(number)) for number in range(30)]
    assert [one.text for one in proposals.all()] == [one.text for one in added[10:]]
