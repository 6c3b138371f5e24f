"""Models that are sent what no client should send, and what must be true of every answer and of them afterwards."""

import contextlib
import random
import shutil

import msgspec

from lopsided.serve import messages as said
from lopsided.serve.folding import Fold
from lopsided.serve.opening import recovered
from serve.asking import Service
from serve.naive_service import Shelf

MODELS = {
    "m": {"learner": "onlineperceptron"},
    "k": {"learner": "onlineperceptron", "keys": ["card"], "time": "when", "value": "a"},
    "n": {"learner": "onlineperceptron", "labels": ["good", "bad"], "positive": "bad", "decision": {"alerts": "3/day"}},
}


@contextlib.contextmanager
def service_with_models(folder):
    """A service with three models, two of which have learned something."""
    with Service(folder) as service:
        for name, settings in MODELS.items():
            assert service.ask("PUT", f"/models/{name}", settings).status == 201
        draw = random.Random(0)
        for name in ("m", "k"):
            events = [event(draw, name, id=f"e{k}", label=k % 3 == 0) for k in range(20)]
            assert service.ask("POST", f"/models/{name}/events", events).status == 200
        yield service


def event(draw, name="m", **more):
    columns = {"a": draw.gauss(0, 1), "b": draw.choice(("x", "y"))}
    if name == "k":
        columns |= {"card": f"c{draw.randint(0, 3)}", "when": 1.7e9 + draw.randint(0, 9999)}
    if "label" in more:
        more["label"] = int(more["label"])
    return {"columns": columns, **more}


def check_answer(route, method, answer, documented):
    """No mistake of ours, a sentence for each refusal, and what the description says."""
    assert answer.status < 500 or (answer.status == 503 and route.path.endswith("ready")), answer.body
    if answer.status >= 400 and not (answer.status == 409 and route.path.endswith("/labels")):
        problem = msgspec.json.decode(answer.body, type=said.Problem)
        assert len(problem.error) > 20 and problem.error.rstrip("…").endswith((".", ")"))
    if method != route.method or answer.status in (404, 405):
        return
    assert str(answer.status) in documented[route.path][route.method.lower()]["responses"]
    if answer.status < 300 and route.gives is not None:
        kinds = route.gives if isinstance(route.gives, tuple) else (route.gives,)
        found = msgspec.json.decode(answer.body)
        assert any(_fits(found, kind) for kind in kinds)


def _fits(found, kind):
    try:
        msgspec.convert(found, kind)
    except msgspec.ValidationError:
        return False
    return True


def check_model(model, folder):
    """The model is what the log says, and it can be opened. It still learns, so others must not write its versions."""
    shutil.copytree(model._folder, folder, ignore=shutil.ignore_patterns("*.new", "log.sqlite*"))
    again = recovered(folder, model._disk, model.reader)
    fresh = Fold(model.reader, Shelf())
    while fresh.catch_up():
        pass
    assert again.to_bytes() == fresh.to_bytes()
