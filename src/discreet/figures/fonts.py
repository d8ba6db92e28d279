"""Fonts for texts that the usual one cannot show: Chinese, Japanese and Korean, where the machine has one."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.figures.style import Axes

__all__ = ["read_wide"]

# Fonts with Chinese, Japanese and Korean characters, as systems name them.
_WIDE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK TC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Noto Sans SC",
    "Noto Sans TC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans SC",
    "PingFang SC",
    "PingFang HK",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Microsoft JhengHei",
    "Yu Gothic",
    "Malgun Gothic",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "IPAexGothic",
    "NanumGothic",
    "SimHei",
    "Arial Unicode MS",
)


def read_wide(ax: Axes) -> None:
    """Give texts with wide characters a font that has them, where the machine has one."""
    from matplotlib import font_manager, rcParams

    legend = ax.get_legend()
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *(legend.get_texts() if legend else [])]
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    if not any(_is_wide(text.get_text()) for text in [*texts, *ticks]):
        return
    installed = {font.name for font in font_manager.fontManager.ttflist}
    family = [*rcParams["font.family"], *[name for name in _WIDE_FONTS if name in installed][:2]]
    for text in texts:
        text.set_fontfamily(family)
    ax.tick_params(labelfontfamily=family)


def _is_wide(text: str) -> bool:
    return any(unicodedata.east_asian_width(character) in "WF" for character in text)
