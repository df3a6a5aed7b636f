"""Where inside of tasks time went, as sampled: by calls and by lines, here and on workers."""
