"""What a seed has to do: the same one gives the same model, and memory that is bounded stays as it is."""

from __future__ import annotations

from typing import Any

from lopsided.checks.subject import Stream, ensure, ensure_same_model, fresh, learned, stream_for


def check_same_seed_same_model(learner: Any) -> None:
    """The same parameters, seed and rows give the same model, to the byte."""
    stream = stream_for(learner)
    one, other = learned(fresh(learner), stream), learned(fresh(learner), stream)
    ensure_same_model(one, other, stream, "The same seed and rows must give the same model.")
    ensure(one.to_bytes() == other.to_bytes(), "The same seed and rows must give the same bytes.")


def check_seed_does_not_matter(learner: Any) -> None:
    """A learner that claims to draw nothing gives the same model for every seed."""
    stream = stream_for(learner)
    one, other = learned(fresh(learner, seed=1), stream), learned(fresh(learner, seed=2), stream)
    ensure_same_model(one, other, stream, "A learner that claims to draw nothing must not depend on its seed.")


def check_bounded_memory(learner: Any) -> None:
    """A learner that claims bounded memory holds the same bytes after its first hundred rows and after all others."""
    table = stream_for(learner).as_table
    stream, model = Stream(as_table=table, n_rows=600), fresh(learner)
    sizes = []
    for start, stop in ((0, 100), (100, 300), (300, 301), (301, 600)):
        sizes.append(model.partial_fit(stream.rows(start, stop), stream.y[start:stop]).nbytes_)
    ensure(len(set(sizes)) == 1, f"'nbytes_' of a bounded learner must stay as it was. Got {sizes} on the way.")
