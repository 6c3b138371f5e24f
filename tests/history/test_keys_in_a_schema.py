"""Keys in a schema: what infer_schema proposes and takes, and a TablePipeline that reads raw rows with a history."""

import json

import numpy as np
import pytest

import lopsided as lp
from history.streams import events, part
from lopsided.encoding import Schema, SchemaError, infer_schema
from lopsided.encoding.inference import proposed_keys
from lopsided.inspection import explain
from lopsided.late import LateLearner

TABLE, Y = events(200, 2, seed=5)
KEYS = ["k0", "k1"]
SCHEMA = infer_schema(TABLE, keys=KEYS, time="when", value="amount")


def learner():
    return lp.KOIL(budget=20, random_state=0)


def test_a_schema_with_keys_makes_a_table_pipeline_that_is_a_history_pipeline(tmp_path):
    named = lp.TablePipeline(SCHEMA, learner=learner())
    told = lp.HistoryPipeline(
        infer_schema(TABLE, time="when", ignore=KEYS), lp.KeyedHistory(KEYS, "when", "amount"), learner=learner()
    )
    scores = [LateLearner(model, delay=30, classes=[0, 1]).progressive_scores(TABLE, Y) for model in (named, told)]
    assert np.array_equal(*scores)
    assert named.history_.n_seen_ == 200
    named.save(tmp_path / "model")
    again = lp.load(tmp_path / "model")
    later = part(TABLE, slice(0, 20))
    assert np.array_equal(again.decision_function(later), told.decision_function(later))
    assert np.array_equal(
        again.progressive_scores(later, Y[:20], classes=[0, 1]), told.progressive_scores(later, Y[:20], classes=[0, 1])
    )


def test_a_table_without_keys_keeps_no_history_and_observes_nothing():
    model = lp.TablePipeline(infer_schema(TABLE, ignore=KEYS), learner=learner()).fit(TABLE, Y)
    assert not hasattr(model, "arrived")
    assert not hasattr(model, "history_")
    assert hasattr(lp.TablePipeline(SCHEMA), "arrived")


def test_the_schema_says_what_is_learned_of_keys_and_is_kept_as_it_is():
    assert "k0      key, its history is learned from" in str(SCHEMA).splitlines()
    plain = json.loads(json.dumps(SCHEMA.to_json()))
    assert Schema.from_json(plain) == SCHEMA
    assert "history_keys" not in infer_schema(TABLE, ignore=KEYS).to_json()


def test_keys_need_a_time_and_must_be_there():
    with pytest.raises(SchemaError, match="must name the column of the time too, got none beside k0"):
        infer_schema(TABLE, keys=["k0"])
    with pytest.raises(SchemaError, match="got 'card'"):
        infer_schema(TABLE, keys=["card"], time="when")


def test_keys_are_proposed_where_they_come_back():
    n = 90
    rows = {
        "payment_id": [f"p{number:05d}" for number in range(n)],
        "card": [f"c{number}" for number in range(n)],
        "shop_id": [str(100 + number % 7) for number in range(n)],
        "amount": [1.5 * number for number in range(n)],
        "when": [60 * number for number in range(n)],
        "fraud": [int(number % 9 == 0) for number in range(n)],
    }
    assert proposed_keys(rows, label="fraud") == ("card", "shop_id")
    assert proposed_keys(rows, label="fraud", ignore=["card"]) == ("shop_id",)
    schema = infer_schema(rows, label="fraud", id="payment_id", keys="auto", time="when", value="amount")
    assert (schema.history_keys, schema.value) == (("card", "shop_id"), "amount")


@pytest.mark.parametrize("ranker", [learner(), lp.FourierRanker(n_components=8, random_state=0)])
def test_a_score_is_explained_by_columns_and_by_the_past_of_keys(ranker):
    model = lp.TablePipeline(SCHEMA, learner=ranker).partial_fit(TABLE, Y, classes=[0, 1])
    row = {name: values[7] for name, values in TABLE.items()}
    before = model.to_bytes()
    found = explain(model, row, by="columns")
    assert model.to_bytes() == before  # a look changes nothing
    assert sum(part.amount for part in found.parts) - found.threshold == pytest.approx(found.score, abs=1e-9)
    assert found.score == pytest.approx(model.decision_function([row])[0], abs=1e-12)
    parts = {part.name: part for part in found.parts[1:]}
    assert {"k0", "k1", "k0+k1"} <= parts.keys() <= {*TABLE, "k0+k1"}
    said = dict(zip(model.history_.get_feature_names_out(), model.history_.transform([row])[0], strict=True))
    shown = parts["k0"].columns
    assert shown.pop("k0") == row["k0"]
    assert len(shown) == 3
    assert shown == {name: pytest.approx(said[name], rel=1e-3) for name in shown}


def test_every_number_of_a_row_belongs_to_one_column():
    encoder = lp.TablePipeline(SCHEMA).encoder_
    places = [place for own in encoder.all_places().values() for place in own]
    assert sorted(places) == list(range(encoder.width))
    learned = [place for place in map(encoder.learned_place, range(encoder.width)) if place is not None]
    assert learned == list(range(len(encoder.learned_names)))
