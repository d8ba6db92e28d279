"""A learner that reads nothing: nothing is drawn, and nothing is paid."""

from __future__ import annotations

from discreet import accounting
from discreet.learning.design.features import Features
from discreet.learning.moments.declared_learner import DeclaredLearner
from discreet.privacy.events import Nothing


def test_nothing_is_read_and_nothing_is_paid():
    features = Features.of([(0, 1), (0, 2)], ["a", "b"], by_name=False)
    found = DeclaredLearner(features=features, reach=(0, 1), rows=3)
    assert found.draw([object()]) == {}
    assert found.event == Nothing
    assert accounting.epsilon(found.event, delta=0).upper == 0
    assert found.guarantee.epsilon == 0
    assert found.columns == ("a", "b")
    assert found.expectations(10) == ()
    assert found.parameters["rows"] == 3
    assert found.parameters != DeclaredLearner(features=features, reach=(0, 2), rows=3).parameters
