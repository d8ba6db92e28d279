"""What conditions leave: of keys, and of the regions that comparisons cut values into."""
