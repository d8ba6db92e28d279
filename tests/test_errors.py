from __future__ import annotations

import copy
import pickle

import pytest

from discreet import errors


def test_every_error_has_one_root():
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.DiscreetError)


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (errors.BudgetExceeded, errors.RequestRefused),
        (errors.UnsupportedQuery, errors.RequestRefused),
        (errors.UndeclaredColumn, errors.RequestRefused),
        (errors.LedgerMismatch, errors.LedgerError),
        (errors.LedgerTampered, errors.LedgerError),
        (errors.LedgerUnavailable, errors.LedgerError),
        (errors.ParameterError, ValueError),
        (errors.MissingExtra, ImportError),
    ],
)
def test_the_tree_is_as_documented(child, parent):
    assert issubclass(child, parent)


def test_the_public_names_are_all_that_is_defined():
    defined = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert defined == set(errors.__all__)


def test_parameter_error_names_the_parameter_and_what_it_may_be():
    error = errors.ParameterError("epsilon", "is negative", "0 or greater")
    assert str(error) == "epsilon is negative; allowed: 0 or greater"
    assert (error.parameter, error.problem, error.allowed) == ("epsilon", "is negative", "0 or greater")


def test_parameter_error_survives_pickle_and_copy():
    error = errors.ParameterError("epsilon", "is negative", "0 or greater")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is errors.ParameterError
        assert str(again) == str(error)
        assert again.parameter == "epsilon"


def test_missing_extra_says_what_to_install():
    error = errors.MissingExtra("matplotlib", "plot")
    assert "pip install 'discreet[plot]'" in str(error)
    assert (error.library, error.extra) == ("matplotlib", "plot")


def test_a_tampered_ledger_names_the_entry_where_it_shows():
    error = errors.LedgerTampered("its hash is not that of its content", 17)
    assert str(error) == "the ledger cannot be trusted at entry 17: its hash is not that of its content"
    assert str(errors.LedgerTampered("it is behind its anchor")).endswith("trusted: it is behind its anchor")
    again = pickle.loads(pickle.dumps(error))
    assert (again.problem, again.sequence, str(again)) == (error.problem, 17, str(error))
