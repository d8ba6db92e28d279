"""What examples share: parameters beside layers and layers of places, and where they meet examples."""
