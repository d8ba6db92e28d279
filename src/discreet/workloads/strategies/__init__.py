"""What is measured instead of the queries themselves."""
