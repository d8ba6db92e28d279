"""Tables kept in the engine in a form that makes queries fast."""
