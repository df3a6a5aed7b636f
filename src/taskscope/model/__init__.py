"""Values: clocks, keys, records, columns, and the recording they make up."""
