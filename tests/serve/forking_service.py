"""Starts `lopsided serve` as often as it is told, in processes of their own, without importing everything each time.

Each line of its input is a data directory; for each it prints the number of the process and then what that prints.
"""

import os
import signal
import sys

from lopsided.__main__ import main


def start(folder: str) -> None:
    child = os.fork()
    if child:
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.argv = ["lopsided", "serve", "--port", "0", "--data-dir", folder]
    sys.exit(main())


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that were killed
    for line in sys.stdin:
        start(line.strip())
