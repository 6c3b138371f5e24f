"""Rows of tables that have waited for their labels are shown as they came, with their identifiers."""

import numpy as np
import pytest

import lopsided as lp
from lopsided.encoding import infer_schema
from lopsided.estimators.state.files import load_attached, save_model
from lopsided.inspection import explain
from lopsided.late import LateLearner, MemoryStore, WaitingRows

RNG = np.random.default_rng(0)
N = 700
AMOUNTS = np.round(RNG.lognormal(3.0, 1.0, N) * (1.0 + np.arange(N) / 100.0), 2)
COUNTRIES = RNG.choice(["NO", "SE", "DK", "XX"], N)
ROWS = [
    {
        "who": f"T{t:05}",
        "amount": float(amount) if t % 11 else None,
        "country": str(country),
        "when": f"2026-03-{1 + t // 25:02}T{t % 24:02}:30",
    }
    for t, (amount, country) in enumerate(zip(AMOUNTS, COUNTRIES, strict=True))
]
Y = ((np.quantile(AMOUNTS, 0.9) < AMOUNTS) | (COUNTRIES == "XX")).astype(int)
SCHEMA = infer_schema({name: [row[name] for row in ROWS] for name in ROWS[0]}, id="who")
KEYED = infer_schema({name: [row[name] for row in ROWS] for name in ROWS[0]}, id="who", keys=["country"], time="when")
LEARNERS = {
    "KOIL": lambda: lp.KOIL(budget=15, random_state=0),
    "RareEventClassifier": lambda: lp.RareEventClassifier(n_components=8, sample_size=200, random_state=0),
}


def pipeline(learner="KOIL", schema=SCHEMA):
    return lp.TablePipeline(schema, learner=LEARNERS[learner]())


def assert_shown_as_learned(model, order):
    """What the model keeps are rows as they came; `order` is that in which they were learned."""
    numbers = model.learner_._kept_numbers()
    numbers = numbers[numbers > 0].tolist()
    assert len(numbers) > 10
    for number in numbers:
        assert model.remembered_row(number) == ROWS[order[number - 1]]


@pytest.mark.parametrize("schema", [SCHEMA, KEYED], ids=["plain", "with a history"])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("pieces", [[N], [150, 1, 3, 40, 1, 1, 300, N]], ids=["at once", "in pieces"])
def test_rows_that_wait_keep_their_cells_also_in_files(tmp_path, learner, schema, pieces):
    model, start, kept = pipeline(learner, schema), 0, None
    for size in pieces:
        late = LateLearner(model, delay=60, classes=[0, 1])
        if kept is not None:
            late.restore(kept["late"])
        late.progressive_scores(ROWS[start : start + size], Y[start : start + size])
        start += size
        if model.started_:
            save_model(model, tmp_path / "model", attached={"late": late.state()})
            model, kept = load_attached(tmp_path / "model")
    assert_shown_as_learned(LateLearner(model, delay=60).restore(kept["late"]).finish().model, range(N))


def test_explanations_are_those_of_labels_at_once():
    prompt, late = pipeline().partial_fit(ROWS, Y), LateLearner(pipeline(), delay=60, classes=[0, 1])
    late.progressive_scores(ROWS, Y)
    late.finish()
    shown = [[(part.row, part.id, part.columns) for part in explain(m, ROWS[5]).parts] for m in (prompt, late.model)]
    assert shown[0] == shown[1] and len(shown[0]) > 10


def test_labels_by_key_find_rows_as_they_came():
    late = LateLearner(pipeline(), classes=[0, 1], corrections="learn")
    for start in range(0, N, 20):
        rows = ROWS[start : start + 20]
        for row in rows[:4]:
            late.score([row], [row["who"]])
        late.score(rows[4:], [row["who"] for row in rows[4:]])
    order = np.random.default_rng(1).permutation(N)
    for start in range(0, N, 35):
        part = order[start : start + 35]
        late.label([ROWS[t]["who"] for t in part[:3]], Y[part[:3]])
        late = LateLearner(late.model, corrections="learn").restore(late.state())
        late.label([ROWS[t]["who"] for t in part[3:]], Y[part[3:]])
    assert_shown_as_learned(late.model, order)
    again = [t for t in order if Y[t] == 0][:30]
    late.label([ROWS[t]["who"] for t in again], np.ones(30))
    assert_shown_as_learned(late.model, [*order, *again])


def in_tables(store):
    """How many rows the tables hold that waiting rows hold on to."""
    tables = {id(entry[0]): entry[0] for entry in store._cells if entry is not None}
    return sum(len(next(iter(table.values()))) for table in tables.values())


def test_tables_are_let_go_with_their_rows():
    late, waiting = LateLearner(pipeline(), classes=[0, 1]), []
    for k in range(40):
        portion = [row | {"who": f"{k} {row['who']}"} for row in ROWS[:200]]
        keys = [row["who"] for row in portion]
        late.score(portion, keys)
        late.label(keys[5:], Y[5:200])  # five of each portion wait for ever
        waiting += keys[:5]
        assert in_tables(late.store) <= 4 * (len(waiting) + 200)
    assert len(late.store) == len(waiting) == 200
    late.label(waiting, np.tile(Y[:5], 40))
    assert in_tables(late.store) == 0


def test_rows_that_come_alone_share_a_table():
    late = LateLearner(pipeline(), classes=[0, 1])
    for row in ROWS[:300]:
        late.score([row], [row["who"]])
    assert len({id(entry[0]) for entry in late.store._cells if entry is not None}) < 150
    late.label([row["who"] for row in ROWS[:300]], Y[:300])
    assert_shown_as_learned(late.model, range(300))


def test_a_model_that_keeps_no_examples_lets_no_cells_wait():
    late = LateLearner(lp.TablePipeline(SCHEMA, learner=lp.OPAUC()).partial_fit(ROWS, Y), delay=60)
    late.progressive_scores(ROWS, Y)
    assert len(late.store) and not any(late.store._cells) and "cells" not in late.state().arrays


def test_files_from_before_show_what_can_be_told():
    late = LateLearner(pipeline(), delay=60, classes=[0, 1])
    late.progressive_scores(ROWS[:400], Y[:400])
    description, arrays = late.state()
    before = {name: array for name, array in arrays.items() if "cells" not in name}
    late = LateLearner(late.model, delay=60).restore((description, before))
    late.progressive_scores(ROWS[400:], Y[400:])
    late.finish()
    without_cells = 0
    for number in late.model.support_numbers_.tolist():
        row, was = late.model.remembered_row(number), ROWS[number - 1]
        assert row["amount"] == was["amount"]
        if 339 < number <= 400:  # these have waited in the file
            without_cells += row["who"] is None and was["country"] in row["country"]
        else:
            assert row == was
    assert without_cells


def test_damaged_cells_are_refused():
    late = LateLearner(pipeline(), delay=60, classes=[0, 1])
    late.progressive_scores(ROWS[:100], Y[:100])
    description, arrays = late.state()
    with pytest.raises(ValueError, match="in every column of their cells"):
        LateLearner(late.model, delay=60).restore((description, arrays | {"with_cells": np.ones(3, dtype=bool)}))


def test_a_store_gives_rows_back_with_the_cells_that_they_had():
    store, encoder = MemoryStore(), pipeline().encoder_
    n_rows, nothing = 50, np.full(50, np.nan)
    rows = encoder.rows(encoder.columns_of(ROWS[:n_rows]))
    keys, positions = [row["who"] for row in ROWS[:n_rows]], np.arange(n_rows)
    store.add(WaitingRows(rows, np.zeros(n_rows), positions, nothing + np.inf, nothing, keys))
    taken = store.take([keys[7], keys[3]])
    store.put_back(taken.part(np.array([1])))
    assert taken.X.cells.row(0) == ROWS[7] and store.take_oldest(n_rows).X[3].cells.row(0) == ROWS[3]
