"""A client of `lopsided serve`: the same calls, synchronous and asynchronous, with types.

    from lopsided.client import Client

    with Client("http://127.0.0.1:8080") as service:
        service.make_model("cards", learner="auto", keys=["card"], time="when", value="amount")
        answer = service.score("cards", {"card": "c1", "when": 1.7e9, "amount": 5.0}, id="a1")
        if answer.alert:
            ...
        service.label("cards", "a1", 1)

What can be repeated safely is repeated when the service is busy or the connection breaks: batches carry an
Idempotency-Key, single events and labels their id.
"""

from lopsided.client.asynchronous import AsyncClient
from lopsided.client.blocking import Client
from lopsided.client.calls import ServiceError

__all__ = ["AsyncClient", "Client", "ServiceError"]
