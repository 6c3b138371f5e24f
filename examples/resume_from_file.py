"""Save a model, load it elsewhere, go on learning: the result is the same as if it had never stopped.

Run it with `python examples/resume_from_file.py`. It takes a few seconds.
"""

import tempfile
from pathlib import Path

import numpy as np

import lopsided as lp
from lopsided.datasets import xor

stream = xor(10_000, random_state=0)  # 1 % positives that no straight line can tell apart
monday, tuesday = slice(0, 6_000), slice(6_000, 10_000)


def new_model():
    """Numbers are scaled by what came before them, then learned."""
    return lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(gamma="auto", threshold="f1", random_state=0))


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "model.lopsided")

    # Monday: learn, save, and stop. The file holds arrays and JSON, never pickle, so it is safe to load.
    model = new_model()
    model.partial_fit(stream.X[monday], stream.y[monday])
    model.save(path)
    print(f"saved    {path.stat().st_size / 1000:.0f} kB, {model.learner_.n_support_} support vectors")

    # Tuesday: load and go on, in another process if you like.
    model = lp.load(path)

scores = model.progressive_scores(stream.X[tuesday], stream.y[tuesday])
print(f"resumed  AUROC {lp.metrics.auroc(stream.y[tuesday], scores):.3f} on {scores.size:,} more rows")

# A model that never stopped gives the same scores, bit for bit: the random draws are part of the file.
unbroken = new_model()
unbroken.partial_fit(stream.X[monday], stream.y[monday])
same = unbroken.progressive_scores(stream.X[tuesday], stream.y[tuesday])
print(f"equal    {np.array_equal(scores, same)}")
