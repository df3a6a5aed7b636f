"""CPU and memory of this process and its children."""
