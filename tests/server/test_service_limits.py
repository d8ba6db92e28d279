from __future__ import annotations

from dataclasses import fields

import pytest

from discreet.errors import ParameterError
from discreet.server.service_limits import ServiceLimits


@pytest.mark.parametrize("name", [one.name for one in fields(ServiceLimits)])
@pytest.mark.parametrize("value", [0, -1])
def test_every_limit_is_positive(name, value):
    with pytest.raises(ParameterError) as refused:
        ServiceLimits(**{name: value})
    assert refused.value.parameter == name


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_times_are_numbers(value):
    with pytest.raises(ParameterError):
        ServiceLimits(slot=value)
