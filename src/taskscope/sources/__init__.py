"""The sources of a recording: one adapter a file."""
