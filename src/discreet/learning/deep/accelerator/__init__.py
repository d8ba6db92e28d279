"""Private steps on an accelerator: integers for gradients, exact sums, noise in registers."""
