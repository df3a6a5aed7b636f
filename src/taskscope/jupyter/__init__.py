"""Magics, widgets, their feed, and unpromised parts of Jupyter's packages."""
