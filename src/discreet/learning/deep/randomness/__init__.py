"""Secret states that generators are lent while a batch is read and run."""
