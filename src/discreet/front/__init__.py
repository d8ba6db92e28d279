"""What users call: the curator, files that declare it, previews, sandboxes and suggestions."""

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.front.balance import Remaining, Spent
    from discreet.front.curator import Curator
    from discreet.front.opening import open_file as open

__all__ = ["Curator", "Remaining", "Spent", "open"]

# Words of the shell live here, too, and need no library for tables.
publish(
    __name__,
    homes={
        "Curator": "discreet.front.curator",
        "Remaining": "discreet.front.balance",
        "Spent": "discreet.front.balance",
        "open": "discreet.front.opening:open_file",
    },
)
