"""Where a served model is kept: a disk, an SQLite file for the log, an index of event ids, snapshots."""
