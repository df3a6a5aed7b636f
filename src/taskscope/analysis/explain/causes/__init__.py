"""The causes that are looked for, by where they lie: each is a function that yields findings."""
