"""A service, started as a user would, and a program that talks to it: score, label, look, promote.

Run it with `python examples/service_client.py`; it needs `pip install 'lopsided[serve]'`.
"""

import subprocess
import sys
import tempfile
import time

from lopsided.client import Client
from lopsided.datasets import xor

STREAM = xor(1_200, rare=0.05)


def payments(start, stop):
    """Rows of a stream as events: an id, and columns by name."""
    rows = STREAM.X[start:stop].tolist()
    return [{"id": f"p{start + k}", "columns": {"x": row[0], "y": row[1]}} for k, row in enumerate(rows)]


with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "lopsided", "serve", "--port", "0", "--data-dir", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    address = process.stdout.readline().split()[2]  # lopsided serves http://127.0.0.1:PORT ...
    with process.stdout, Client(address) as service:
        service.make_model("payments", learner="koil", parameters={"gamma": 5.0})
        for start in range(0, 1_200, 100):
            service.score_many("payments", payments(start, start + 100))
            # Weeks later, in life: here at once.
            labels = [{"id": f"p{k}", "label": int(STREAM.y[k])} for k in range(start, start + 100)]
            service.label_many("payments", labels)
            while service.state("payments").learned < service.state("payments").sequence:
                time.sleep(0.05)
        answer = service.score("payments", {"x": 0.9, "y": 0.9}, id="new")
        print("a new payment: scored", answer.sequence > 0, "- its label comes later")
        print("and then:", service.label("payments", "new", 1).outcome)
        print("once more:", service.label("payments", "new", 1).outcome)
        state = service.state("payments")
        print(f"{state.events} events, {state.waiting} waiting")
    process.terminate()
    print("ended with", process.wait())
