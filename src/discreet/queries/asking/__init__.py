"""A question on its terms: what is requested, previewed, explained and answered, all by one path."""

from __future__ import annotations

from discreet.queries.asking.asked import Asked
from discreet.queries.asking.settle import Question, settle

__all__ = ["Asked", "Question", "settle"]
