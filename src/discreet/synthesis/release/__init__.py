"""What was released, and how far it is from the truth."""
