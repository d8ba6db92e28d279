"""The names of arrays say what numpy holds in them."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from discreet.array_types import Floats, Integers


@pytest.mark.parametrize(("alias", "kind"), [(Floats, np.float64), (Integers, np.int64)])
def test_an_alias_names_its_type(alias, kind):
    (held,) = get_args(get_args(alias)[1])
    assert held is kind
