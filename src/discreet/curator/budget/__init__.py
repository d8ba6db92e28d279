"""What may be spent, what was, and how ledger entries change it."""
