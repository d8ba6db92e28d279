"""What a question of names means over declared tables: a plan and its outputs."""
