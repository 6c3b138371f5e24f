"""The learners: one family a folder, one algorithm a file. `registry` knows them all by name."""
