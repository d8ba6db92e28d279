"""Two related tables: persons, and events of each of them."""
