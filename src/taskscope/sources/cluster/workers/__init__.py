"""The workers of a cluster: who they are, how their clocks go, and what they are asked for."""
