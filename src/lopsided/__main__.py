"""`python -m lopsided` is the command `lopsided`, which begins here: Ctrl-C before it has begun leaves no traceback."""

from __future__ import annotations

import sys


def main() -> None:
    """Import the command line and run it; 130 is 128 + SIGINT, as shells report it."""
    try:
        from lopsided.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
