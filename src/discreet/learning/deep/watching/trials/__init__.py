"""What is tried out in some batches: that no examples are mixed, and that a model keeps nothing of them."""
