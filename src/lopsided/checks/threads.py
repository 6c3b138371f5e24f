"""What several threads may do with one learner: ask, learn and save at the same time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lopsided.checks.subject import ensure, ensure_same_scores, fresh, from_bytes, learned, stream_for

_ROUNDS = 24


def check_asking_at_the_same_time(learner: Any) -> None:
    """Scores asked for by several threads at the same time are the scores, and nobody gets those of another."""
    stream = stream_for(learner)
    model = learned(fresh(learner), stream)
    spans = [(0, 30), (30, 60), (60, 90)]

    def scores(span: tuple[int, int]) -> list[float]:
        asked = model.decision_function(stream.rows(*span)).tolist()
        return asked + [
            model.score_one(stream.row(t)) for t in range(*span) if t % 5 == 0 and hasattr(model, "score_one")
        ]

    expected = [scores(span) for span in spans]

    def ask(k: int) -> bool:
        return scores(spans[k % 3]) == expected[k % 3]

    with ThreadPoolExecutor(4) as threads:
        ensure(all(threads.map(ask, range(_ROUNDS))), "Threads that ask at the same time must get their own scores.")


def check_saving_while_learning(learner: Any) -> None:
    """Bytes taken while another thread learns are those of one moment between two rows, and can be read."""
    stream, model = stream_for(learner), fresh(learner)
    learned(model, stream, 2)

    def learn() -> None:
        for t in range(2, len(stream.y)):
            model.learn_one(stream.row(t), stream.y[t])
            if t % 10 == 0:
                time.sleep(1e-3)  # lets the other thread in, which else might come too late

    with ThreadPoolExecutor(1) as threads:
        learning, taken = threads.submit(learn), [model.to_bytes()]
        while not learning.done():
            taken.append(model.to_bytes())
        learning.result()
    for content in [*taken[:: max(1, len(taken) // 3)], model.to_bytes()]:
        moment = from_bytes(model, content)
        alone = learned(fresh(learner), stream, moment.n_seen_)
        sentence = f"Bytes taken while learning must be the model of the first {moment.n_seen_} rows."
        ensure_same_scores(moment.raw_scores(stream.rows()), alone.raw_scores(stream.rows()), sentence)
