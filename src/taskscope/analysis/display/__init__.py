"""The values that pages and pictures show: tables of a page, coverage, colours, names of lanes."""
