"""What users call: the curator, files that declare it, previews, sandboxes and suggestions."""

from typing import TYPE_CHECKING

from discreet.exports import publish
from discreet.front.balance import Remaining, Spent
from discreet.front.curator import Curator

if TYPE_CHECKING:
    from discreet.front.opening import open_file as open

__all__ = ["Curator", "Remaining", "Spent", "open"]

publish(__name__, homes={"open": "discreet.front.opening:open_file"})
