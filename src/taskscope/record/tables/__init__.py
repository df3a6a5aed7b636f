"""The recorder's tables: bounded, append-only, read with a cursor."""
