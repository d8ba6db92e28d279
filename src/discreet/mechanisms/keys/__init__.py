"""Which keys of the data may be shown, if they are undeclared."""
