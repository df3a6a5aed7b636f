"""The `.taskscope` file: as it grows, as a whole, and back."""
