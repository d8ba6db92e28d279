"""The choice of strategy and noise with the least error, and a bound on any choice."""
