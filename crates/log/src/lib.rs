//! Reads and writes logs: one record per tick of what was applied, in MCAP files.
