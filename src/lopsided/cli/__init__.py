"""The command `lopsided`: one file a command, listed in `lopsided.cli.main`."""
