"""A signal that comes while the next rows are read: they have not been learned, so they are read again later."""

import signal

import numpy as np

import lopsided as lp
from lopsided.feeds.feed import Feed


def test_rows_that_were_only_read_are_not_lost(lopsided, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{int(a * b > 0.7)}" for a, b in rng.standard_normal((3_000, 2))]
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    arguments = ("learn", path, "--label", "y", "--learner", "koil", "--seed", "0", "-o", "m")
    given = Feed.slices

    def interrupted_on_the_way(feed, n_rows=1024):
        for number, portion in enumerate(given(feed, n_rows)):
            if number == 1:
                signal.raise_signal(signal.SIGINT)  # the second slice has been read, and reaches nobody
            yield portion

    with monkeypatch.context() as patch:
        patch.setattr(Feed, "slices", interrupted_on_the_way)
        assert lopsided(*arguments).returncode == 130
    assert lp.load(tmp_path / "m").n_seen_ == 1024
    done = lopsided(*arguments, "--resume", "m")
    assert done.returncode == 0, done.stderr
    assert lopsided(*arguments[:-1], "whole").returncode == 0
    resumed, whole = (lp.load(tmp_path / name) for name in ("m", "whole"))
    assert resumed.n_seen_ == whole.n_seen_ == 3_000
    assert np.array_equal(resumed.final_learner.support_weights_, whole.final_learner.support_weights_)
