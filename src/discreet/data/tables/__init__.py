"""Private and public tables: rows behind an engine, with what is declared about them."""
