"""What pages and pictures show of a recording: tables of a page, coverage, colours, what lanes are called."""
