"""Training: losses, budgets and the releases from which weights are made."""
