"""A real service on a port of this machine, in a thread of the test."""

import contextlib
import socket
import threading
import time

import uvicorn

from lopsided.serve.house import House
from lopsided.serve.web.app import application
from lopsided.serve.web.tokens import Tokens


@contextlib.contextmanager
def running_service(folder, tokens="", **options):
    own = socket.socket()
    own.bind(("127.0.0.1", 0))
    app = application(House(folder, **options), Tokens.parse(tokens))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{own.getsockname()[1]}", app.state.house
    finally:
        server.should_exit = True
        thread.join()
        own.close()


def wait_until(is_so, seconds=90.0):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
