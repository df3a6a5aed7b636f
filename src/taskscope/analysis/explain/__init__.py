"""Why a computation took as long as it did: its critical path, other schedules of it, findings."""
