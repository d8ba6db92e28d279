"""Which keys of the data may be shown, where nobody declared them."""
