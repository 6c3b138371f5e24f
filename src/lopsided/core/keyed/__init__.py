"""One model for each key, all of them stacked: where a key stands, who leaves, and the steps of mixed rows."""
