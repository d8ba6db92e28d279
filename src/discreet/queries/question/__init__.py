"""Questions of names: like dataframes, and what happens to released values."""
