"""Commands as processes of their own that need not import anything: they are forked from one that has.

For tests of signals. What a process does when it starts is tested with processes that do start: see `installed`.
"""

import multiprocessing
import os
import sys

import lopsided.cli.learn  # what is imported here, the server of forks imports once
import lopsided.cli.main
import lopsided.cli.training
from lopsided import KOIL, TablePipeline  # noqa: F401


def forked(folder, *arguments, stdin=None):
    """Begin `lopsided ARGUMENTS` in a folder; what it says goes into the file "said" there."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    path = str(stdin) if stdin is not None else os.devnull
    process = context.Process(target=_run, args=(str(folder), path, tuple(map(str, arguments))))
    process.start()
    return process


def _run(folder, stdin, arguments):
    os.chdir(folder)
    os.dup2(os.open(stdin, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    sys.stdin = os.fdopen(0, closefd=False)  # multiprocessing has put an empty one there
    lopsided.cli.main.main(arguments)
