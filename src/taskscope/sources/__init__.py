"""What is recorded from: one adapter a file."""
