from __future__ import annotations

import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import privacy
from discreet.errors import ParameterError
from discreet.privacy.neighbors import (
    ADD_REMOVE_PERSON,
    REPLACE_ROW,
    Change,
    Neighbors,
    Unit,
    check_relation,
)

RELATIONS = st.builds(
    Neighbors, change=st.sampled_from(Change), unit=st.sampled_from(Unit), size=st.integers(1, 10**17)
)


@given(RELATIONS)
def test_text_reads_back(relation):
    assert Neighbors.from_text(str(relation)) == relation
    assert pickle.loads(pickle.dumps(relation)) == relation


def test_the_four_constants():
    texts = {str(getattr(privacy, name)) for name in privacy.__all__ if name.isupper()}
    assert texts == {"add-remove person", "add-remove row", "replace person", "replace row"}
    assert repr(ADD_REMOVE_PERSON) == "ADD_REMOVE_PERSON"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add-remove",
        "add-remove persons",
        "replace 1 rows",
        "replace 0 rows",
        "replace 2 row",
        "ADD-REMOVE person",
        "replace row ",
        "replace 9999999999999999999 rows",
        None,
        3,
    ],
)
def test_other_text_is_refused(text):
    with pytest.raises(ParameterError, match=r"^neighbors "):
        Neighbors.from_text(text)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match=r"^change "):
        Neighbors(change="replace", unit=Unit.ROW)
    with pytest.raises(ParameterError, match=r"^unit "):
        Neighbors(change=Change.REPLACE, unit="row")
    with pytest.raises(ParameterError, match=r"^size "):
        Neighbors(change=Change.REPLACE, unit=Unit.ROW, size=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        REPLACE_ROW.size = 2


def test_groups_multiply():
    assert REPLACE_ROW.group(2).group(3) == REPLACE_ROW.group(6)
    assert REPLACE_ROW.group(1) == REPLACE_ROW
    assert str(REPLACE_ROW.group(6)) == "replace 6 rows"


def test_phrases():
    assert ADD_REMOVE_PERSON.phrase == "adding or removing one person"
    assert REPLACE_ROW.group(3).phrase == "replacing up to 3 rows"


def test_sizes_have_at_most_eighteen_digits():
    assert REPLACE_ROW.group(10**18 - 1).size == 10**18 - 1
    assert Neighbors.from_text(str(REPLACE_ROW.group(10**18 - 1))).size == 10**18 - 1
    with pytest.raises(ParameterError, match=r"^size "):
        REPLACE_ROW.group(10**18)


@pytest.mark.parametrize("other", [None, "replace row", Change.REPLACE, Neighbors])
def test_what_is_no_relation_is_refused(other):
    with pytest.raises(ParameterError, match=r"^neighbors "):
        check_relation(other)
    check_relation(REPLACE_ROW)
