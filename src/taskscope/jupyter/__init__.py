"""Magics, widgets, their feed, and what is relied on of Jupyter's packages."""
