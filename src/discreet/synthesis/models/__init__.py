"""Models of noisy tables, and rows drawn from them: everything here is public."""
