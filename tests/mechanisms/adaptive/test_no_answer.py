"""No answer is one value, however it travels."""

from __future__ import annotations

import copy
import pickle

import pytest

from discreet.mechanisms.adaptive.no_answer import NO_ANSWER, NoAnswer


def test_there_is_one_and_it_is_false():
    assert NoAnswer() is NO_ANSWER
    assert not NO_ANSWER
    assert repr(NO_ANSWER) == str(NO_ANSWER) == "NO_ANSWER"
    assert NO_ANSWER != 0
    assert {NO_ANSWER: 1}[NoAnswer()] == 1


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_copies_and_pickles_are_the_same_one(protocol):
    assert copy.copy(NO_ANSWER) is NO_ANSWER
    assert copy.deepcopy({"answers": [NO_ANSWER]})["answers"][0] is NO_ANSWER
    assert pickle.loads(pickle.dumps(NO_ANSWER, protocol)) is NO_ANSWER


def test_it_holds_nothing():
    with pytest.raises(AttributeError):
        NO_ANSWER.reason = "the data"  # type: ignore[attr-defined]
