"""Hooks append here, without a lock, and the pump folds it into columns."""
