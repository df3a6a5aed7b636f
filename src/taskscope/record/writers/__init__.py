"""What hooks write to, without a lock, and how the pump folds it into columns."""
