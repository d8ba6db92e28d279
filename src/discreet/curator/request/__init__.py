"""What is asked, frozen before anything is charged."""
