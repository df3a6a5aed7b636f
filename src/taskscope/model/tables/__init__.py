"""The tables that a recording is made of, each declared once, and the columns that hold their rows."""
