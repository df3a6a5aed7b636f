"""The workers of a cluster: their names, clocks, and requests to them."""
