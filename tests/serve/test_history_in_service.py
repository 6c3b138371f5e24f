"""Keys in a service: what a card did before counts from the first event on whose columns are known."""

import numpy as np

from lopsided.client import Client
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
