# ring/: one rank's events in shared memory
