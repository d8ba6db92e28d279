"""The figure of an audit of models: rates on log axes, below what the claim allows."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from audit.model_reports import report
from discreet.audit import plot
from discreet.privacy.guarantees import GaussianDP, PureDP


def test_curves_limits_and_axes():
    ax = plot.membership(report(PureDP(epsilon=1), 0.5))
    assert ax.get_xscale() == ax.get_yscale() == "log"
    lines = {line.get_label(): line for line in ax.get_lines()}
    limit = next(line for label, line in lines.items() if "claim" in label)
    rates, heights = limit.get_data()
    assert heights == pytest.approx(np.minimum(np.e * rates, 1 - np.exp(-1) * (1 - rates)))
    assert "guessing" in lines
    assert any(label.startswith("scores, area 1.000") for label in lines)
    plt.close(ax.figure)


def test_the_limit_of_a_normal_claim_is_its_trade_off():
    from scipy.stats import norm

    ax = plot.membership(report(GaussianDP(mu=1), 0.5))
    limit = next(line for line in ax.get_lines() if "claim" in line.get_label())
    rates, heights = limit.get_data()
    true = norm.cdf(norm.ppf(rates) + 1)
    assert (heights >= true - 1e-9).all()
    assert heights == pytest.approx(true, abs=0.01)
    plt.close(ax.figure)
