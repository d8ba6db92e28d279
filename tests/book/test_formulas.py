"""Formulas are set as they are meant, and nothing else on a page is changed."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from book.formulas import set_formulas

PROOFS = sorted((Path(__file__).parents[2] / "docs" / "proofs").glob("*.md"))


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("at most e^ε times", "at most e<sup>ε</sup> times"),
        ("e^(−ε/2)(1 − q)^K", "e<sup>−ε/2</sup>(1 − q)<sup>K</sup>"),
        ("P_0(k) and a_ij", "P<sub>0</sub>(k) and a<sub>ij</sub>"),
        ("Σ s_i² ≤ Δ²", "Σ s<sub>i</sub>² ≤ Δ²"),
        ("H_{e^e}(A‖B)", "H<sub>e<sup>e</sup></sub>(A‖B)"),
        ("e^(ψ(2)) − 1", "e<sup>ψ(2)</sup> − 1"),
        ("max_{j<i} s", "max<sub>j<i</sub> s"),
        ("∫_t^∞ f", "∫<sub>t</sub><sup>∞</sup> f"),
        ("2^-48 and 2^64.", "2<sup>-48</sup> and 2<sup>64</sup>."),
        ("r^|k|, E_{Q_j}[f]", "r<sup>|k|</sup>, E<sub>Q<sub>j</sub></sub>[f]"),
    ],
)
def test_what_is_typed_is_set(typed, wanted):
    assert set_formulas(typed) == wanted


@pytest.mark.parametrize(
    "typed",
    [
        "`a_b^2` and ``x_1``",
        "see [gaussian_sampler](gaussian_sampler.md)",
        "```\nx^2\n```",
        "# The e^ε rule",
        "snake_case and test_of_a_thing",
        "- an item\n\n    its second paragraph",
        "an address {#x_1}",
    ],
)
def test_everything_else_stays(typed):
    assert set_formulas(typed) == typed


def test_a_formula_of_its_own_keeps_its_lines_below_each_other():
    done = set_formulas("By this,\n\n    e^(1/b) < x\n            = P_0 + 1\n\nand so on")
    head, tail = 'By this,\n\n<pre class="formula">e<sup>1/b</sup> &lt; x\n', "</pre>\n\nand so on"
    # The second line begins below <, which is behind two whole letters and three small ones.
    assert done == head + '<span class="pad" style="width:4.25ch"></span>= P<sub>0</sub> + 1' + tail


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_no_letter_of_a_proof_is_lost(page):
    """Without tags and brackets of what is raised and lowered, a page holds the letters it had."""

    def letters(text: str) -> str:
        return re.sub(r"[\s_^(){}]", "", text)

    typed = page.read_text(encoding="utf-8")
    shown = html.unescape(re.sub(r"</?(?:su[bp]|pre|span)\b[^<>]*>", "", set_formulas(typed)))
    assert letters(shown) == letters(html.unescape(typed))
