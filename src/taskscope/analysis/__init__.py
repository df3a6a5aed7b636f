"""Pure functions from a recording to plain values."""
