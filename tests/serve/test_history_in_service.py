"""Keys in a service: what a card did before counts from the first event on whose columns are known."""

import numpy as np

from lopsided.client import Client
from lopsided.serve.folding import Fold
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.storage.versions import Versions
from serve.running_service import running_service, wait_until


def test_events_before_the_first_label_are_part_of_the_history(tmp_path):
    def events(first, n):
        cells = [{"card": "c1", "when": 1.7e9 + 60.0 * k, "amount": float(k % 7)} for k in range(first, first + n)]
        return [{"id": f"e{first + k}", "columns": cell} for k, cell in enumerate(cells)]

    with running_service(tmp_path) as (address, house), Client(address) as client:
        client.make_model("keyed", learner="onlineperceptron", keys=["card"], time="when", value="amount")
        client.score_many("keyed", events(0, 220))
        model = house.model("keyed")
        wait_until(lambda: model.view.champion is not None)
        for first in (220, 240):
            client.score_many("keyed", events(first, 20))
            wait_until(
                lambda: model.view.position == model.written
            )  # by a new copy of a model that has learned nothing
        client.score_many("keyed", events(260, 1))
        encoder = model.view.champion.model.encoder_
        entry = model.reader.events_at(model.written)
        features = entry.feature_array[0, encoder.first_feature :]
        rate = features[encoder.history_names.index("card.rate_30d")]
        assert np.exp(rate) - 1.0 > 39.0  # the forty before, hardly faded


def test_a_challenger_that_has_only_seen_events_keeps_its_history_in_a_snapshot(tmp_path):
    def events(first, n):
        cells = [{"card": f"c{k % 3}", "when": 1.7e9 + 60.0 * k, "x": float(k % 7)} for k in range(first, first + n)]
        return [{"id": f"e{first + k}", "columns": cell} for k, cell in enumerate(cells)]

    with running_service(tmp_path) as (address, house), Client(address) as client:
        client.make_model("keyed", learner="onlineperceptron", keys=["card"], time="when", value="x")
        client.score_many("keyed", events(0, 220))
        client.label_many("keyed", [{"id": f"e{k}", "label": k % 2} for k in range(100)])
        client.challenge("keyed", "onlineperceptron")
        model = house.model("keyed")
        wait_until(lambda: model.view.champion is not None and model.view.champion.started)
        client.score_many("keyed", events(220, 20))
        wait_until(lambda: client.state("keyed").learned == model.written)
    with running_service(tmp_path) as (address, house), Client(address) as client:  # by the snapshot of the end
        wait_until(lambda: house.is_ready)
        model = house.model("keyed")
        assert model._fold.champion.started and not model._fold.challenger.started
        replayed = Fold(model.reader, Versions(tmp_path / "replayed", RealDisk()))
        with model.asking:
            while replayed.catch_up():
                pass
        assert model._fold.to_bytes() == replayed.to_bytes()
