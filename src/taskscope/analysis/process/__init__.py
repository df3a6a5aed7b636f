"""What a process used, shared out among the tasks that ran: its CPU time, its memory at the peak."""
