"""From text to a syntax tree in one spelling; names, and what is refused by name."""
