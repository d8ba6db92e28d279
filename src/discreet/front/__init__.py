"""What users call: the curator, files that declare it, previews, sandboxes and suggestions."""

from discreet.front.balance import Remaining, Spent
from discreet.front.curator import Curator
from discreet.front.opening import open_file as open

__all__ = ["Curator", "Remaining", "Spent", "open"]
